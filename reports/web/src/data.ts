// What the page holds for its pictures: written by reports/views/html/html_data.cpp, numbers in seconds.

/** [value, low, high], or [value] where there is no interval. */
export type Estimate = [number | null, (number | null)?, (number | null)?];

export interface Case {
  /** Of the scenario's table, from 0. */
  row: number;
  strategy: string;
  /** Of the scenario's axes, in their order; null where one does not apply. */
  values: (number | string | null)[];
  time: Estimate;
  speedup?: Estimate;
  amount?: number | null;
  /** Of the amount; absent: the scenario's. */
  unit?: string;
  bound?: number | null;
  samples: { rounds: number[]; seconds: (number | null)[] };
}

/** When the tasks of a case ran. */
export interface PackedTimeline {
  row: number;
  /** Of the case that its speedup is measured against. */
  baseline?: number;
  /** Seconds. */
  unit: number;
  /** In units. */
  length: number;
  /** Names. */
  lanes: string[];
  /** Of each lane the number of its device. */
  devices: number[];
  /** Of each device its peaks for each kind of task, FLOP/s and B/s; null where none is known. */
  peaks: [number | null, number | null][][] | null;
  /** Busy and idle time of each device, as a text. */
  shares: string;
  /** Of timeline/packed.ts. */
  spans: string;
}

export interface Timelines {
  /** Of tasks, each once. */
  names: string[];
  /** FLOPs and bytes of tasks, each pair once; 0 where nothing is counted. */
  work: [number, number][];
  /** By row. */
  cases: PackedTimeline[];
  /** The row of the case to be shown first. */
  first?: number;
  /** Measured cases that have none: how many, why, and the rows of some. */
  without: { reason: string; count: number; rows: number[] }[];
}

export interface Scenario {
  id: string;
  name: string;
  /** Of the amounts of cases that name no other: "images", "FLOP"; empty: there is none. */
  unit: string;
  /** Strategies that speedups are measured against. */
  baselines: string[];
  /** Parameters in which cases differ. */
  axes: string[];
  /** The first round of each process; empty where a single process took all samples. */
  processes: number[];
  /** Measured ones only. */
  cases: Case[];
  /** Absent if no case has a profile. */
  timelines?: Timelines;
}

export function readData(): Scenario[] {
  return JSON.parse(document.getElementById("parbench-data")?.textContent ?? "[]") as Scenario[];
}

/** Each once, in the order in which they appear. */
export function strategiesOf(cases: Case[]): string[] {
  return [...new Set(cases.map((c) => c.strategy))];
}

/** In the same order; there may be thousands of strategies. */
export function casesByStrategy(cases: Case[]): Map<string, Case[]> {
  const groups = new Map<string, Case[]>();
  for (const c of cases) {
    const group = groups.get(c.strategy);
    if (group) group.push(c);
    else groups.set(c.strategy, [c]);
  }
  return groups;
}

/** Of the axis at a place: numbers by size, then texts as they appear. */
export function axisValues(cases: Case[], axis: number): (number | string)[] {
  const values = new Set<number | string>();
  for (const c of cases) {
    const value = c.values[axis];
    if (value !== null && value !== undefined) values.add(value);
  }
  const numbers = [...values].filter((v) => typeof v === "number").sort((a, b) => a - b);
  return [...numbers, ...[...values].filter((v) => typeof v === "string")];
}

/** "streams 4, batch 8": the values of some axes that a case has. */
export function valuesText(scenario: Scenario, c: Case, axes: number[]): string {
  const parts = axes
    .filter((axis) => c.values[axis] !== null && c.values[axis] !== undefined)
    .map((axis) => `${scenario.axes[axis]} ${c.values[axis]}`);
  return parts.join(", ");
}

export function caseText(scenario: Scenario, c: Case): string {
  const all = scenario.axes.map((_, axis) => axis);
  return [c.strategy, valuesText(scenario, c, all)].filter((text) => text !== "").join(", ");
}
