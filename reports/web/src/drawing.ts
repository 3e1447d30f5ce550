// Common parts of all pictures: their input and output, axes, colours and symbols of series.
import { type Case, type Scenario, caseText } from "./data";
import type { EChartsOption } from "./echarts";
import type { Measure } from "./measures";
import type { Colours } from "./theme";

export interface Request {
  /** The scenario with the chosen cases only. */
  scenario: Scenario;
  /** Indices of the axes that vary among the chosen cases (`varyingAxes`). */
  axes: number[];
  measure: Measure;
  /** The strategy of a heat map; empty: the best of all. */
  strategy: string;
  log: boolean;
  colours: Colours;
}

/** An entry of the legend: a button that hides its series. */
export interface Entry {
  name: string;
  colour: string;
  symbol: string;
}

export interface Drawing {
  option: EChartsOption;
  entries: Entry[];
  /** Number of series shown initially; absent: all. */
  limit?: number;
  /** Height in pixels. */
  height: number;
  /** Alternative text, also shown below the picture. */
  description: string;
}

/** A point of a series, with the row of its case, by which the tooltip finds the case's figures. */
export interface Point {
  value: (number | string)[];
  row: number;
  /** The deviation of a sample whose position does not show it. */
  deviation?: number;
  /** The round of a sample that is not drawn at its round. */
  round?: number;
  symbol?: string;
  symbolRotate?: number;
  symbolSize?: number;
}

const symbols: [string, string][] = [
  ["circle", "●"],
  ["rect", "■"],
  ["triangle", "▲"],
  ["diamond", "◆"],
  ["emptyCircle", "○"],
  ["emptyRect", "□"],
  ["emptyTriangle", "△"],
  ["emptyDiamond", "◇"],
];

/** Returns the style of the series with an index; sixty-four combinations of colour and symbol differ. */
export function seriesStyle(
  index: number,
  colours: Colours,
): { colour: string; symbol: string; sign: string } {
  const count = colours.series.length;
  const [symbol, sign] = symbols[(index + Math.floor(index / count)) % symbols.length]!;
  return { colour: colours.series[index % count]!, symbol, sign };
}

export function baseOption(colours: Colours): EChartsOption {
  return {
    animation: false,
    textStyle: { color: colours.ink, fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 12 },
    legend: { show: false },
    grid: { left: 12, right: 24, top: 8, bottom: 12, outerBoundsMode: "same", outerBoundsContain: "all" },
    tooltip: {
      trigger: "item",
      backgroundColor: colours.card,
      borderColor: colours.line,
      textStyle: { color: colours.ink, fontSize: 12 },
      confine: true,
    },
  };
}

export function axisStyle(colours: Colours) {
  return {
    nameTextStyle: { color: colours.soft },
    axisLine: { show: true, lineStyle: { color: colours.soft } },
    axisLabel: { color: colours.ink },
    axisTick: { lineStyle: { color: colours.soft } },
    splitLine: { lineStyle: { color: colours.line } },
  };
}

/** Returns an axis with a line for each case, the first at the top. */
export function caseAxis(scenario: Scenario, cases: Case[], colours: Colours) {
  return nameAxis(cases.map((c) => caseText(scenario, c)), colours);
}

/** Returns an axis with a line for each name, the first at the top. */
export function nameAxis(names: string[], colours: Colours) {
  const style = axisStyle(colours);
  return {
    ...style,
    axisLabel: { ...style.axisLabel, width: Math.min(360, 0.4 * innerWidth), overflow: "truncate" as const },
    type: "category" as const,
    data: names,
    inverse: true,
    axisTick: { show: false },
    splitLine: { show: false },
  };
}

/** Returns 1, 2 and 5 times powers of ten within and just outside a range; powers of ten only, if it is wide. */
export function logTicks(low: number, high: number): number[] {
  const ticks: number[] = [];
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const factors = last - first > 4 ? [1] : [1, 2, 5];
  for (let power = first; power <= last; ++power) {
    for (const factor of factors) ticks.push(factor * 10 ** power);
  }
  const begin = Math.max(0, ticks.findIndex((tick) => tick > low) - 1);
  const end = ticks.findIndex((tick) => tick >= high);
  return ticks.slice(begin, end < 0 ? undefined : end + 1);
}

/** Returns the axis of a measure: from zero, or logarithmic with readable ticks. */
export function valueAxis(request: Request, values: number[]) {
  const { measure, colours } = request;
  const style = axisStyle(colours);
  const label = { ...style.axisLabel, formatter: (value: number) => measure.label(value), hideOverlap: true };
  const common = { ...style, name: measure.title, nameGap: 14 };
  const positive = values.filter((value) => value > 0);
  if (!request.log || positive.length === 0) {
    return { ...common, type: "value" as const, min: 0, axisLabel: label };
  }
  const ticks = logTicks(Math.min(...positive), Math.max(...positive));
  return {
    ...common,
    type: "log" as const,
    min: ticks[0]!,
    max: ticks.at(-1)!,
    axisLabel: { ...label, customValues: ticks },
    axisTick: { ...style.axisTick, customValues: ticks },
    splitLine: { show: false },
  };
}

/** Returns all numbers that a scale must include. */
export function extent(cases: Case[], measure: Measure): number[] {
  return cases.flatMap((c) => {
    const figure = measure.of(c);
    if (!figure) return [];
    return [figure.value, figure.low, figure.high, figure.bound].filter((n) => n !== undefined);
  });
}
