// Draws samples over time: changes of all cases at once are caused by the machine.
import { type Case, type Scenario, caseText, casesByStrategy } from "./data";
import { type Drawing, type Point, axisStyle, baseOption, seriesStyle } from "./drawing";
import type { MarkLineComponentOption } from "./echarts";
import { short } from "./measures";
import type { Colours } from "./theme";
import { max_series } from "./views";

const max_points = 4000;
/** Max share of samples that are exceptions, drawn beyond the scale. */
const max_beyond = 0.1;

/** A range of deviations in percent. */
export interface Range {
  low: number;
  high: number;
  /** Distance of two ticks of the axis. */
  interval: number;
}

export function drawSamples(scenario: Scenario, colours: Colours): Drawing {
  const cases = withinLimit(scenario.cases);
  const groups = grouped(scenario, cases);
  const all = cases.flatMap(deviations);
  const range = rangeOf(all.map(deviationOf));
  const beyond = all.filter((point) => !holds(range, deviationOf(point))).length;
  const series = [...groups].map(([name, members], index) => {
    const { colour, symbol } = seriesStyle(index, colours);
    return {
      type: "scatter" as const,
      name,
      symbol,
      symbolSize: 6,
      itemStyle: { color: colour, opacity: 0.75 },
      data: members.flatMap(deviations).map((point) => withinRange(point, range)),
    };
  });
  const entries = [...groups.keys()].map((name, index) => {
    const { colour, sign } = seriesStyle(index, colours);
    return { name, colour, symbol: sign };
  });
  const style = axisStyle(colours);
  return {
    option: {
      ...baseOption(colours),
      xAxis: { ...style, type: "value", name: "round", nameLocation: "middle", nameGap: 28, minInterval: 1, splitLine: { show: false } },
      yAxis: {
        ...percentAxis("deviation from the case’s median", range, colours),
        nameTextStyle: { color: colours.soft, align: "left" },
      },
      // The lines of process starts are a separate series, which stays visible when others are hidden.
      series: [...series, { type: "scatter" as const, markLine: processStarts(scenario, colours) }],
    },
    entries: entries.length > 1 ? entries : [],
    limit: max_series,
    height: 340,
    description:
      "Each sample as its deviation from the median of its case, by the round in which it was taken." +
      (cases.length < scenario.cases.length
        ? ` The first ${cases.length} of ${scenario.cases.length} cases.`
        : "") +
      (beyond > 0
        ? ` ${beyond} of ${all.length} samples lie beyond the scale: an arrow at its edge stands for each, and shows its deviation when pointed at.`
        : "") +
      (scenario.processes.length > 0
        ? ` ${scenario.processes.length} processes took them one after the other; a dashed line stands where the next one begins.`
        : ""),
  };
}

function deviationOf(point: Point): number {
  return Number(point.value[1]);
}

export function holds({ low, high }: Range, deviation: number): boolean {
  return deviation >= low && deviation <= high;
}

/** Returns an axis of percentages over a range. */
export function percentAxis(name: string, { low, high, interval }: Range, colours: Colours) {
  const style = axisStyle(colours);
  const formatter = (value: number) => `${short(value)}%`;
  return { ...style, type: "value" as const, name, min: low, max: high, interval, axisLabel: { ...style.axisLabel, formatter } };
}

/** Returns a quantile of sorted numbers. */
export function quantile(sorted: number[], share: number): number {
  return sorted[Math.round(share * (sorted.length - 1))] ?? 0;
}

/**
 * Returns the range of all samples. If a few are so far out that the others would look like a line,
 * returns the range of the samples within three times the interquartile distance of the quartiles
 * (Tukey's outer fences). The range starts at −100% or above, because no sample takes less than no
 * time.
 */
export function rangeOf(values: number[]): Range {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, max] = [quantile(sorted, 0), quantile(sorted, 1)];
  const [lower, upper] = [quantile(sorted, 0.25), quantile(sorted, 0.75)];
  const reach = 3 * (upper - lower);
  const within = sorted.filter((value) => value >= lower - reach && value <= upper + reach);
  const [low, high] = [quantile(within, 0), quantile(within, 1)];
  const few = within.length >= (1 - max_beyond) * sorted.length;
  const crowded = few && reach > 0 && max - min > 2 * (high - low);
  return crowded ? rounded(low, high) : rounded(min, max);
}

/** Extends a range by a margin, to ticks of the axis. */
function rounded(low: number, high: number): Range {
  const width = Math.max(high - low, 0.01);
  const power = 10 ** Math.floor(Math.log10(width / 5));
  const interval = power * ([1, 2, 5].find((factor) => factor * power >= width / 5) ?? 10);
  const margin = width / 50;
  return {
    low: Math.max(-100, interval * Math.floor((low - margin) / interval)),
    high: interval * Math.ceil((high + margin) / interval),
    interval,
  };
}

/** Replaces a point beyond the range by an arrow at the edge. */
function withinRange(point: Point, range: Range): Point {
  const deviation = deviationOf(point);
  if (holds(range, deviation)) return point;
  const above = deviation > range.high;
  return {
    ...point,
    value: [point.value[0]!, above ? range.high : range.low],
    deviation,
    symbol: "arrow",
    symbolRotate: above ? 0 : 180,
    symbolSize: 11,
  };
}

/** Returns lines between the last round of a process and the first of the next. */
function processStarts(scenario: Scenario, colours: Colours): MarkLineComponentOption {
  return {
    silent: true,
    symbol: "none",
    animation: false,
    lineStyle: { color: colours.soft, type: "dashed", width: 1 },
    label: { formatter: ({ name }) => name, color: colours.soft, fontSize: 10 },
    data: scenario.processes
      .map((round, index) => ({ name: `${index + 1}`, xAxis: round - 0.5 }))
      .slice(1),
  };
}

export function withinLimit(cases: Case[]): Case[] {
  let points = 0;
  return cases.filter((c) => (points += c.samples.seconds.length) <= max_points);
}

/** Returns a series for each case if these are few enough to be distinguished, else for each strategy. */
function grouped(scenario: Scenario, cases: Case[]): Map<string, Case[]> {
  if (cases.length <= max_series) return new Map(cases.map((c) => [caseText(scenario, c), [c]]));
  return casesByStrategy(cases);
}

export function deviations(c: Case): Point[] {
  const median = c.time[0];
  if (!median) return [];
  return c.samples.seconds.flatMap((seconds, i) =>
    seconds === null ? [] : [{ value: [c.samples.rounds[i]!, 100 * (seconds / median - 1)], row: c.row }],
  );
}
