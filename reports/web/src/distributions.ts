// Draws the samples of each case on its own line, which shows whether they are skewed or multimodal.
import type { Scenario } from "./data";
import { type Drawing, type Point, baseOption, caseAxis } from "./drawing";
import type { CustomSeriesOption, CustomSeriesRenderItem } from "./echarts";
import { type Range, deviations, holds, percentAxis, quantile, rangeOf, withinLimit } from "./samples";
import type { Colours } from "./theme";

const max_rows = 40;
/** Min number of samples with a box; the points alone describe fewer samples as well. */
const min_samples_of_a_box = 8;
const row_height = 26;

export function drawDistributions(scenario: Scenario, colours: Colours): Drawing {
  const cases = withinLimit(scenario.cases).slice(0, max_rows);
  const samples = cases.map(deviations);
  const range = rangeOf(samples.flat().map((point) => Number(point.value[1])));
  const beyond = samples.flat().filter((point) => !holds(range, Number(point.value[1]))).length;
  return {
    option: {
      ...baseOption(colours),
      xAxis: {
        ...percentAxis("deviation from the case’s median", range, colours),
        nameLocation: "middle",
        nameGap: 28,
      },
      yAxis: caseAxis(scenario, cases, colours),
      series: [
        boxes(samples.map((points) => points.map((point) => Number(point.value[1]))), colours),
        {
          type: "scatter" as const,
          symbol: "circle",
          symbolSize: 6,
          itemStyle: { color: colours.series[0]!, opacity: 0.5 },
          data: samples.flatMap((points, index) => points.map((point) => onLine(point, index, range))),
          z: 5,
        },
      ],
    },
    entries: [],
    height: 80 + row_height * Math.max(1, cases.length),
    description:
      "The samples of each case as deviations from its median; a box holds the middle half, of eight samples or more." +
      (cases.length < scenario.cases.length ? ` The first ${cases.length} of ${scenario.cases.length} cases.` : "") +
      (beyond > 0 ? ` ${beyond} of ${samples.flat().length} samples lie beyond the scale: an arrow at its edge stands for each.` : ""),
  };
}

/** Places a sample on the line of its case; an arrow at the edge replaces a sample beyond it. */
function onLine(point: Point, index: number, range: Range): Point {
  const deviation = Number(point.value[1]);
  const made: Point = { row: point.row, value: [deviation, index], deviation, round: Number(point.value[0]) };
  if (holds(range, deviation)) return made;
  const right = deviation > range.high;
  return { ...made, value: [right ? range.high : range.low, index], symbol: "arrow", symbolRotate: right ? -90 : 90, symbolSize: 11 };
}

/** Returns boxes from the first quartile to the third, with a line at the median. */
function boxes(samples: number[][], colours: Colours): CustomSeriesOption {
  const data = samples.flatMap((values, index) => {
    const sorted = [...values].sort((a, b) => a - b);
    return values.length < min_samples_of_a_box ? [] : [[index, quantile(sorted, 0.25), quantile(sorted, 0.75)]];
  });
  const renderItem: CustomSeriesRenderItem = (_, api) => {
    const at = (x: number | string) => api.coord([x, api.value(0)]) as [number, number];
    const [left, y] = at(api.value(1));
    const [right] = at(api.value(2));
    const [middle] = at(0);
    return {
      type: "group",
      children: [
        {
          type: "rect",
          shape: { x: left, y: y - 8, width: Math.max(1, right - left), height: 16 },
          style: { fill: colours.series[0]!, opacity: 0.15, stroke: colours.soft },
        },
        { type: "line", shape: { x1: middle, y1: y - 9, x2: middle, y2: y + 9 }, style: { stroke: colours.ink, lineWidth: 1.5 } },
      ],
    };
  };
  return { type: "custom", data, renderItem, encode: { x: [1, 2], y: 0 }, silent: true, clip: true, z: 3 };
}
