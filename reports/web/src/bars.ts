// Draws a bar for each case, with its interval and its bound, if known.
import { type Case, strategiesOf } from "./data";
import {
  type Drawing,
  type Point,
  type Request,
  baseOption,
  caseAxis,
  extent,
  seriesStyle,
  valueAxis,
} from "./drawing";
import type { CustomSeriesOption, CustomSeriesRenderItem, SeriesOption } from "./echarts";
import { extremeText } from "./measures";

const max_bars = 60;
const bar_height = 26;

export function drawBars(request: Request): Drawing {
  const { scenario, measure, colours } = request;
  const all = scenario.cases.filter((c) => measure.of(c));
  const cases = choose(all, request);
  const strategies = strategiesOf(scenario.cases);
  const series = strategiesOf(cases).flatMap((strategy) => {
    const { colour } = seriesStyle(strategies.indexOf(strategy), colours);
    return barSeries(request, cases, strategy, colour);
  });
  const entries = strategiesOf(cases).map((name) => {
    const { colour } = seriesStyle(strategies.indexOf(name), colours);
    return { name, colour, symbol: "■" };
  });
  const left_out = all.length - cases.length;
  return {
    option: {
      ...baseOption(colours),
      xAxis: { ...valueAxis(request, extent(cases, measure)), position: "top", nameLocation: "middle", nameGap: 28 },
      yAxis: caseAxis(scenario, cases, colours),
      grid: { left: 12, right: 24, top: 8, bottom: 8, outerBoundsMode: "same", outerBoundsContain: "all" },
      series,
    },
    entries: entries.length > 1 ? entries : [],
    height: 56 + bar_height * cases.length,
    description:
      `Bars of ${measure.title}, with intervals; a dashed mark is the bound.` +
      (left_out > 0 ? ` The best ${cases.length}, without ${left_out} others.` : "") +
      extremeText(scenario, all, measure),
  };
}

function choose(cases: Case[], { measure }: Request): Case[] {
  if (cases.length <= max_bars) return cases;
  const sign = measure.larger_is_better ? -1 : 1;
  const sorted = [...cases].sort((a, b) => sign * (measure.of(a)!.value - measure.of(b)!.value));
  return sorted.slice(0, max_bars);
}

/** Returns the series of a strategy's bars and that of their marks; one name, so that the legend hides both. */
function barSeries(request: Request, cases: Case[], strategy: string, colour: string): SeriesOption[] {
  const points: Point[] = [];
  const marks: (number | string)[][] = [];
  cases.forEach((c, index) => {
    if (c.strategy !== strategy) return;
    const { value, low, high, bound } = request.measure.of(c)!;
    points.push({ value: [value, index], row: c.row });
    marks.push([index, low ?? NaN, high ?? NaN, bound ?? NaN]);
  });
  return [
    {
      type: "bar",
      name: strategy,
      data: points,
      barWidth: 14,
      barGap: "-100%",
      itemStyle: { color: colour, opacity: 0.85 },
    },
    markSeries(strategy, marks, request),
  ];
}

function markSeries(name: string, marks: (number | string)[][], { colours }: Request): CustomSeriesOption {
  const renderItem: CustomSeriesRenderItem = (_, api) => {
    const at = (dimension: number) => api.coord([api.value(dimension), api.value(0)]);
    const children = [];
    if (!Number.isNaN(api.value(1))) {
      const [left, y] = at(1) as [number, number];
      const [right] = at(2) as [number];
      children.push(line(left, y, right, y), line(left, y - 5, left, y + 5), line(right, y - 5, right, y + 5));
    }
    if (!Number.isNaN(api.value(3))) {
      const [x, y] = at(3) as [number, number];
      children.push({ ...line(x, y - 10, x, y + 10), style: { stroke: colours.ink, lineWidth: 2, lineDash: [3, 2] } });
    }
    return { type: "group", children };
  };
  const line = (x1: number, y1: number, x2: number, y2: number) => ({
    type: "line" as const,
    shape: { x1, y1, x2, y2 },
    style: { stroke: colours.ink, lineWidth: 1.3 } as Record<string, unknown>,
  });
  return { type: "custom", name, data: marks, renderItem, encode: { x: [1, 2, 3], y: 0 }, silent: true, z: 5 };
}
