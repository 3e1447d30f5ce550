// The timeline of one case: its tasks on their lanes, their dependencies, and idle times of devices.
import { type PackedTimeline, type Timelines, groupBy } from "../data";
import { PackedReader } from "./packed";

/** Names of the colours of bars: kinds of tasks, then phases of a training step, whose tasks compute. */
export const bar_names = ["compute", "copy", "communication", "forward", "backward", "update"] as const;
const kind_count = 3;

/** A task on one of its lanes. Times in seconds from the beginning of the execution. */
export interface Span {
  lane: number;
  /** Index in `bar_names`. */
  colour: number;
  /** Number of the micro-batch that the task computes, from 0. */
  micro_batch: number | undefined;
  name: string;
  /** 0 if not counted. */
  flops: number;
  bytes: number;
  begin: number;
  end: number;
  /** Time at which the host had enqueued the task. */
  enqueued: number;
  /** Index of its task's first span; all spans of a task share it. */
  task: number;
  /** Tasks that the task waits for. */
  after: number[];
}

/** Begin and end in seconds. */
export type Interval = [number, number];

/** The last event that a span waited for before it could begin. */
export interface Cause {
  what: "task" | "lane" | "host";
  /** The awaited task, or the previous task on the span's lane; absent for the host. */
  span?: Span;
  until: number;
}

export class Timeline {
  readonly row: number;
  readonly length: number;
  readonly lanes: string[];
  /** Number of each lane's device. */
  readonly devices: number[];
  readonly shares: string;
  private readonly peaks: PackedTimeline["peaks"];
  /** Sorted by begin. */
  readonly spans: Span[];
  /** By device: times between its first and its last task without any task. */
  readonly bubbles: Interval[][];
  /** By device of a pipeline: times before its first task and after its last. */
  readonly edges: Interval[][];
  private readonly on_lane: Map<number, Span[]>;
  private readonly of_task: Map<number, Span[]>;
  /** The tasks that wait for a task, by the task. */
  private readonly dependents: Map<number, { task: number }[]>;

  constructor(packed: PackedTimeline, { names, work }: Timelines) {
    this.row = packed.row;
    this.length = packed.length * packed.unit;
    this.lanes = packed.lanes;
    this.devices = packed.devices;
    this.shares = packed.shares;
    this.peaks = packed.peaks;
    this.spans = unpack(packed, names, work);
    this.on_lane = groupBy(this.spans, ({ lane }) => lane);
    this.of_task = groupBy(this.spans, ({ task }) => task);
    const waits = this.spans.flatMap(({ task, after }) => after.map((before) => ({ task, before })));
    this.dependents = groupBy(waits, ({ before }) => before);
    this.bubbles = this.findBubbles();
    this.edges = this.spans.some(({ micro_batch }) => micro_batch !== undefined) ? this.findEdges() : [];
  }

  spansOf(task: number): Span[] {
    return this.of_task.get(task) ?? [];
  }

  /** Returns the tasks that any span of a task waits for. */
  dependenciesOf(task: number): number[] {
    return [...new Set(this.spansOf(task).flatMap(({ after }) => after))];
  }

  dependentsOf(task: number): number[] {
    return [...new Set(this.dependents.get(task)?.map((waiting) => waiting.task))];
  }

  /** Returns the peak FLOP/s and B/s of a span's device for the kind of task; null if unknown. */
  peaksOf({ lane, colour }: Span): [number | null, number | null] {
    const kind = colour < kind_count ? colour : 0;
    return this.peaks?.[this.devices[lane]!]?.[kind] ?? [null, null];
  }

  causeOf(span: Span): Cause {
    const cause: Cause = { what: "host", until: span.enqueued };
    const consider = (what: Cause["what"], other: Span) => {
      if (other.end >= cause.until) Object.assign(cause, { what, span: other, until: other.end });
    };
    const before = this.onLane(span.lane).filter((other) => other.begin < span.begin).at(-1);
    if (before) consider("lane", before);
    for (const task of span.after) for (const other of this.spansOf(task)) consider("task", other);
    return cause;
  }

  /** Returns the spans of a lane, sorted by begin. */
  onLane(lane: number): Span[] {
    return this.on_lane.get(lane) ?? [];
  }

  private findBubbles(): Interval[][] {
    const bubbles: Interval[][] = [];
    const busy_until: number[] = [];
    for (const { lane, begin, end } of this.spans) {
      const device = this.devices[lane]!;
      const until = busy_until[device];
      const gaps = (bubbles[device] ??= []);
      if (until !== undefined && begin > until) gaps.push([until, begin]);
      busy_until[device] = Math.max(until ?? 0, end);
    }
    return bubbles;
  }

  private findEdges(): Interval[][] {
    const edges: Interval[][] = [];
    for (const device of new Set(this.devices)) {
      const own = this.spans.filter(({ lane }) => this.devices[lane] === device);
      if (own.length === 0) continue;
      const end = own.reduce((latest, span) => Math.max(latest, span.end), 0);
      const gaps: Interval[] = [
        [0, own[0]!.begin],
        [end, this.length],
      ];
      edges[device] = gaps.filter(([from, to]) => to > from);
    }
    return edges;
  }
}

/** Reads the fields in the order in which reports/views/html/html_timelines.cpp packs them. */
function unpack({ spans: text, unit }: PackedTimeline, names: string[], work: [number, number][]): Span[] {
  const packed = new PackedReader(text);
  const spans: Span[] = [];
  let begin = 0;
  let enqueued = 0;
  while (!packed.ended) {
    const lane_and_colour = packed.next();
    const micro_batch = packed.next();
    const name = names[packed.next()] ?? "";
    const [flops, bytes] = work[packed.next()] ?? [0, 0];
    begin += packed.next();
    const end = begin + packed.next();
    enqueued += packed.nextSigned();
    const index = spans.length;
    const task = index - packed.next();
    const after = Array.from({ length: packed.next() }, () => index - packed.nextSigned());
    spans.push({
      lane: Math.floor(lane_and_colour / bar_names.length),
      colour: lane_and_colour % bar_names.length,
      micro_batch: micro_batch > 0 ? micro_batch - 1 : undefined,
      name,
      flops,
      bytes,
      begin: begin * unit,
      end: end * unit,
      enqueued: enqueued * unit,
      task,
      after,
    });
  }
  return spans;
}

/** Unpacks timelines of cases on first use. */
export class TimelineStore {
  private readonly known = new Map<number, Timeline>();

  constructor(private readonly data: Timelines) {}

  /** Returns the timeline of the case in a row of the table; undefined if it has none. */
  get(row: number | undefined): Timeline | undefined {
    const packed = this.data.cases.find((one) => one.row === row);
    if (!packed) return undefined;
    const timeline = this.known.get(packed.row) ?? new Timeline(packed, this.data);
    this.known.set(packed.row, timeline);
    return timeline;
  }
}
