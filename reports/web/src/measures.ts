// The measures that pictures show of cases, and the labels of their scales. Tooltips show texts of the
// table instead, which the program has formatted.
import { type Case, type Scenario, caseText } from "./data";

export interface Figure {
  value: number;
  /** Ends of the interval; absent if unknown. */
  low?: number;
  high?: number;
  /** The measure that the case would have at its bound. */
  bound?: number;
}

export interface Measure {
  key: string;
  title: string;
  larger_is_better: boolean;
  of(c: Case): Figure | undefined;
  label(value: number): string;
}

const prefixes: [number, string][] = [
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** Returns significant digits without trailing zeros. */
export function short(value: number, digits = 3): string {
  return String(Number(value.toPrecision(digits)));
}

export function duration(seconds: number, digits = 3): string {
  const size = Math.abs(seconds);
  if (size === 0) return "0";
  if (size >= 0.9995) return `${short(seconds, digits)} s`;
  if (size >= 0.9995e-3) return `${short(seconds * 1e3, digits)} ms`;
  if (size >= 0.9995e-6) return `${short(seconds * 1e6, digits)} µs`;
  return `${short(seconds * 1e9, digits)} ns`;
}

/** Formats a rate; FLOP and B take prefixes, other units do not. */
export function rate(value: number, unit: string): string {
  if (unit === "FLOP" || unit === "B") {
    const prefix = prefixes.find(([size]) => Math.abs(value) >= size * 0.9995);
    return prefix ? `${short(value / prefix[0])} ${prefix[1]}${unit}/s` : `${short(value)} ${unit}/s`;
  }
  return `${short(value)} ${unit}/s`;
}

/** Returns undefined for null, which represents numbers that are not finite. */
function finite(value: number | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : value;
}

function figure(value: number, low?: number, high?: number, bound?: number): Figure {
  const result: Figure = { value };
  if (low !== undefined && high !== undefined) {
    result.low = low;
    result.high = high;
  }
  if (bound !== undefined) result.bound = bound;
  return result;
}

function timeOf(c: Case): Figure | undefined {
  const value = finite(c.time[0]);
  if (value === undefined) return undefined;
  return figure(value, finite(c.time[1]), finite(c.time[2]), finite(c.bound));
}

/** Returns the throughput in a unit; undefined for cases with another unit. */
function throughputOf(c: Case, scenario: Scenario, unit: string): Figure | undefined {
  const time = timeOf(c);
  const amount = finite(c.amount);
  if (!time || amount === undefined || !(time.value > 0) || unitOf(c, scenario) !== unit) return undefined;
  const per = (seconds?: number) => (seconds && seconds > 0 ? amount / seconds : undefined);
  return figure(amount / time.value, per(time.high), per(time.low), per(time.bound));
}

function unitOf(c: Case, scenario: Scenario): string {
  return c.unit ?? scenario.unit;
}

/** Returns a measure for each unit, because rates of different units cannot share a scale. */
function throughputs(scenario: Scenario): Measure[] {
  const units = [...new Set(scenario.cases.filter((c) => finite(c.amount) !== undefined).map((c) => unitOf(c, scenario)))];
  return units.map((unit) => ({
    key: `throughput ${unit}`,
    title: units.length > 1 ? `throughput in ${unit}` : "throughput",
    larger_is_better: true,
    of: (c) => throughputOf(c, scenario, unit),
    label: (value) => rate(value, unit),
  }));
}

function speedupOf(c: Case, baselines: string[]): Figure | undefined {
  const time = timeOf(c);
  const value = finite(c.speedup?.[0]) ?? (baselines.includes(c.strategy) ? 1 : undefined);
  if (value === undefined || !time) return undefined;
  const bound = time.bound !== undefined && time.bound > 0 ? (value * time.value) / time.bound : undefined;
  return figure(value, finite(c.speedup?.[1]), finite(c.speedup?.[2]), bound);
}

function efficiencyOf(c: Case): Figure | undefined {
  const time = timeOf(c);
  if (!time || time.bound === undefined || !(time.value > 0)) return undefined;
  const share = (seconds?: number) => (seconds && seconds > 0 ? time.bound! / seconds : undefined);
  return figure(time.bound / time.value, share(time.high), share(time.low));
}

/** Returns the measures that at least one case of the scenario has. */
export function measuresOf(scenario: Scenario): Measure[] {
  const over = scenario.baselines.length === 1 ? ` over ${scenario.baselines[0]}` : "";
  const all: Measure[] = [
    { key: "time", title: "time", larger_is_better: false, of: timeOf, label: duration },
    ...throughputs(scenario),
    {
      key: "speedup",
      title: `speedup${over}`,
      larger_is_better: true,
      of: (c) => (scenario.baselines.length > 0 ? speedupOf(c, scenario.baselines) : undefined),
      label: (value) => `${short(value)}×`,
    },
    {
      key: "efficiency",
      title: "share of the bound",
      larger_is_better: true,
      of: efficiencyOf,
      label: (value) => `${short(value * 100)}%`,
    },
  ];
  return all.filter((measure) => scenario.cases.some((c) => measure.of(c)));
}

/** Returns the best of some cases by a measure; undefined if none has it. */
export function best(cases: Case[], measure: Measure): Case | undefined {
  let chosen: Case | undefined;
  let record = measure.larger_is_better ? -Infinity : Infinity;
  for (const c of cases) {
    const value = measure.of(c)?.value;
    if (value === undefined) continue;
    if (measure.larger_is_better ? value > record : value < record) {
      chosen = c;
      record = value;
    }
  }
  return chosen;
}

/** Returns " Largest speedup: pipeline, split 5, 1.7×.", without a claim of significance. */
export function extremeText(scenario: Scenario, cases: Case[], measure: Measure): string {
  const extreme = best(cases, measure);
  if (!extreme) return "";
  const word = measure.larger_is_better ? "Largest" : "Shortest";
  return ` ${word} ${measure.title}: ${caseText(scenario, extreme)}, ${measure.label(measure.of(extreme)!.value)}.`;
}
