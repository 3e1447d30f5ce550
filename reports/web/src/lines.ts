// Draws a measure against a numeric axis: a line for each series, with its interval as a band and its
// bound as a dashed line. Cases without the axis are levels across the picture.
import { axisValues } from "./data";
import {
  type Drawing,
  type Entry,
  type Point,
  type Request,
  axisStyle,
  baseOption,
  extent,
  seriesStyle,
  valueAxis,
} from "./drawing";
import type { CustomSeriesOption, CustomSeriesRenderItem, EChartsOption, SeriesOption } from "./echarts";
import { type Figure, extremeText } from "./measures";
import { type Series, lineAxis, max_series, seriesAgainst } from "./views";

interface LinePoint {
  x: number;
  figure: Figure;
  row: number;
}

export function drawLines(request: Request): Drawing {
  const { scenario, axes, measure, colours } = request;
  const axis = lineAxis(scenario, axes);
  const values = axisValues(scenario.cases, axis) as number[];
  const { series, reduced } = seriesAgainst(scenario, axes, axis, measure);
  const drawn = series.filter(({ cases }) => cases.some((c) => measure.of(c)));
  const option: EChartsOption = {
    ...baseOption(colours),
    xAxis: numericAxis(request, scenario.axes[axis]!, values),
    yAxis: valueAxis(request, extent(drawn.flatMap(({ cases }) => cases), measure)),
    series: drawn.flatMap((one, index) => lineSeries(request, one, pointsOf(one, axis, values, request), index)),
  };
  const entries = drawn.map((one, index): Entry => {
    const { colour, sign } = seriesStyle(index, colours);
    return { name: one.name, colour, symbol: sign };
  });
  return { option, entries, limit: max_series, height: 420, description: describe(request, axis, drawn, reduced) };
}

function describe({ scenario, measure }: Request, axis: number, series: Series[], reduced: number[]): string {
  // Describes only speedups: times of different work are not comparable.
  const cases = measure.key === "speedup" ? series.flatMap((one) => one.cases) : [];
  const over = reduced.map((other) => scenario.axes[other]).join(", ");
  return (
    `${measure.title} against ${scenario.axes[axis]}; bands are intervals, dashed lines bounds.` +
    (over === "" ? "" : ` Each point is the best over ${over}.`) +
    extremeText(scenario, cases, measure)
  );
}

function numericAxis({ colours, log }: Request, name: string, values: number[]) {
  const style = axisStyle(colours);
  const usable = log && values.every((value) => value > 0) && values.length > 1;
  const first = values[0]!;
  const last = values.at(-1)!;
  return {
    ...style,
    name,
    nameLocation: "middle" as const,
    nameGap: 28,
    type: usable ? ("log" as const) : ("value" as const),
    ...(usable ? { logBase: 2, min: first, max: last } : { min: Math.min(0, first), max: last }),
    splitLine: { show: false },
    axisTick: { ...style.axisTick, customValues: values },
    axisLabel: { ...style.axisLabel, customValues: values, hideOverlap: true, formatter: String },
  };
}

/** Returns the points from left to right; a case without the axis is at both ends. */
function pointsOf({ cases }: Series, axis: number, values: number[], { measure }: Request): LinePoint[] {
  const found = cases.flatMap((c): LinePoint[] => {
    const figure = measure.of(c);
    if (!figure) return [];
    const x = c.values[axis];
    const xs = typeof x === "number" ? [x] : [values[0]!, values.at(-1)!];
    return xs.map((at) => ({ x: at, figure, row: c.row }));
  });
  return found.sort((a, b) => a.x - b.x);
}

function lineSeries(request: Request, { name, cases }: Series, line: LinePoint[], index: number): SeriesOption[] {
  const { colour, symbol } = seriesStyle(index, request.colours);
  const level = cases.length === 1 && line.length === 2;
  const bounds = line.filter(({ figure }) => figure.bound !== undefined);
  const result: SeriesOption[] = [
    bandSeries(name, line, colour),
    {
      type: "line",
      name,
      data: line.map(({ x, figure, row }): Point => ({ value: [x, figure.value], row })),
      symbol,
      symbolSize: level ? 7 : 9,
      itemStyle: { color: colour },
      lineStyle: { color: colour, width: level ? 1.5 : 2.5 },
      clip: false,
      z: 4,
    },
  ];
  if (bounds.length > 1 && request.measure.key !== "efficiency") {
    result.push({
      type: "line",
      name,
      data: bounds.map(({ x, figure }) => [x, figure.bound!]),
      symbol: "none",
      silent: true,
      lineStyle: { color: colour, width: 1.2, type: "dashed", opacity: 0.8 },
    });
  }
  return result;
}

/** Returns a polygon along all intervals; whiskers for the interval of a single point. */
function bandSeries(name: string, line: LinePoint[], colour: string): CustomSeriesOption {
  const known = line.filter(({ figure }) => figure.low !== undefined);
  const renderItem: CustomSeriesRenderItem = (_, api) => {
    const at = (x: number, y: number) => api.coord([x, y]) as [number, number];
    const upper = known.map(({ x, figure }) => at(x, figure.high!));
    const lower = known.map(({ x, figure }) => at(x, figure.low!)).reverse();
    const whiskers = upper.map(([x, y], i) => ({
      type: "line" as const,
      shape: { x1: x, y1: y, x2: x, y2: lower[lower.length - 1 - i]![1] },
      style: { stroke: colour, lineWidth: 1.2, opacity: 0.7 },
    }));
    const band = {
      type: "polygon" as const,
      shape: { points: [...upper, ...lower] },
      style: { fill: colour, opacity: 0.1 },
    };
    return { type: "group", children: [band, ...whiskers] };
  };
  const data = known.length > 0 ? [[known[0]!.x, known[0]!.figure.value]] : [];
  return { type: "custom", name, data, renderItem, silent: true, clip: true, z: 3 };
}
