// The data of a page for its pictures, written by reports/views/html/html_data.cpp. Times in seconds.

/** [value, low, high], or [value] without an interval. */
export type Estimate = [number | null, (number | null)?, (number | null)?];

export interface Case {
  /** Row in the scenario's table, from 0. */
  row: number;
  strategy: string;
  /** One value per axis of the scenario; null if an axis does not apply. */
  values: (number | string | null)[];
  time: Estimate;
  speedup?: Estimate;
  amount?: number | null;
  /** Unit of the amount; absent: the scenario's unit. */
  unit?: string;
  bound?: number | null;
  samples: { rounds: number[]; seconds: (number | null)[] };
}

/** The times of the tasks of a case. */
export interface PackedTimeline {
  row: number;
  /** Row of the baseline of the case's speedup. */
  baseline?: number;
  /** Length of a unit in seconds. */
  unit: number;
  /** Length of the execution in units. */
  length: number;
  lanes: string[];
  /** Number of each lane's device. */
  devices: number[];
  /** Peaks of each device by kind of task, in FLOP/s and B/s; null if none is known. */
  peaks: [number | null, number | null][][] | null;
  /** Busy and idle times of the devices, as text. */
  shares: string;
  /** The tasks, packed as in timeline/packed.ts. */
  spans: string;
}

export interface Timelines {
  /** Names of tasks, each once. */
  names: string[];
  /** FLOPs and bytes of tasks, each pair once; 0 if not counted. */
  work: [number, number][];
  /** Cases with a timeline, in the order of the rows. */
  cases: PackedTimeline[];
  /** Row of the case to be shown first. */
  first?: number;
  /** Measured cases without a timeline: the reason, their number, and the rows of some. */
  without: { reason: string; count: number; rows: number[] }[];
}

export interface Scenario {
  id: string;
  name: string;
  /** Unit of amounts of cases without a unit of their own: "images", "FLOP"; empty: none. */
  unit: string;
  /** Strategies of the baselines of speedups. */
  baselines: string[];
  /** Parameters in which cases differ. */
  axes: string[];
  /** The first round of each process; empty if a single process took all samples. */
  processes: number[];
  /** Measured cases only. */
  cases: Case[];
  /** Absent if no case has a profile. */
  timelines?: Timelines;
}

export function readData(): Scenario[] {
  return JSON.parse(document.getElementById("parbench-data")?.textContent ?? "[]") as Scenario[];
}

/** Returns each strategy once, in order of appearance. */
export function strategiesOf(cases: Case[]): string[] {
  return [...new Set(cases.map((c) => c.strategy))];
}

/** Groups items by key, in order of appearance, in linear time. */
export function groupBy<Key, Item>(items: Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

export function casesByStrategy(cases: Case[]): Map<string, Case[]> {
  return groupBy(cases, (c) => c.strategy);
}

/** Returns the values of an axis: numbers sorted by size, then texts in order of appearance. */
export function axisValues(cases: Case[], axis: number): (number | string)[] {
  const values = new Set<number | string>();
  for (const c of cases) {
    const value = c.values[axis];
    if (value !== null && value !== undefined) values.add(value);
  }
  const numbers = [...values].filter((v) => typeof v === "number").sort((a, b) => a - b);
  return [...numbers, ...[...values].filter((v) => typeof v === "string")];
}

/** Returns the values of some axes of a case: "streams 4, batch 8". */
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
