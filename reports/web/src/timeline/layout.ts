// Positions in a picture of timelines, which are below each other on a common time axis, in pixels.
// Also finds the bar at a position.
import type { Span, Timeline } from "./model";
import type { TimeWindow } from "./window";

const axis_height = 26;
const title_height = 28;
const lane_height = 22;
const gap_between_devices = 5;
const gap_between_cases = 12;
/** Max height in pixels, which browsers limit: lanes become lower if there are very many. */
const max_height = 6000;
/** Space right of the time axis, so that the end of an execution is visible. */
const right_margin = 10;
/** Max distance at which a pointer hits a bar. */
const tolerance = 3;

/** The rows of one case. */
export interface Panel {
  timeline: Timeline;
  title: string;
  top: number;
  /** Upper edges of lanes, by number. */
  lanes: number[];
  /** Upper and lower edges of devices, by number. */
  devices: [number, number][];
  bottom: number;
}

export interface Shown {
  timeline: Timeline;
  title: string;
}

/** A task of one of the cases. */
export interface Bar {
  panel: Panel;
  span: Span;
}

export class Layout {
  readonly panels: Panel[] = [];
  readonly height: number;
  readonly lane_height: number;

  constructor(
    shown: Shown[],
    readonly width: number,
    /** Space left of the time axis for the names of lanes. */
    readonly gutter: number,
  ) {
    const lanes = shown.reduce((sum, { timeline }) => sum + timeline.lanes.length, 0);
    this.lane_height = Math.min(lane_height, max_height / Math.max(1, lanes));
    let y = axis_height;
    for (const one of shown) {
      const panel = this.panelAt(y, one);
      this.panels.push(panel);
      y = panel.bottom + gap_between_cases;
    }
    this.height = Math.ceil(y);
  }

  /** Returns the upper edge of the picture below the labels of the axis. */
  get top(): number {
    return axis_height;
  }

  get bar_height(): number {
    return Math.max(0.5, 0.78 * this.lane_height);
  }

  /** Returns the upper edge of a span's bar. */
  barTop(panel: Panel, span: Span): number {
    return panel.lanes[span.lane]! + (this.lane_height - this.bar_height) / 2;
  }

  x(time: number, window: TimeWindow): number {
    return this.gutter + ((time - window.from) / window.length) * this.plot_width;
  }

  time(x: number, window: TimeWindow): number {
    return window.from + ((x - this.gutter) / this.plot_width) * window.length;
  }

  get plot_width(): number {
    return Math.max(1, this.width - right_margin - this.gutter);
  }

  get right(): number {
    return this.gutter + this.plot_width;
  }

  /** Returns the bar at a position, or the nearest one next to it. */
  at(x: number, y: number, window: TimeWindow): Bar | undefined {
    const panel = this.panels.find(({ top, bottom }) => y >= top && y < bottom);
    if (!panel || x < this.gutter) return undefined;
    const lane = panel.lanes.findIndex((top) => y >= top && y < top + this.lane_height);
    const time = this.time(x, window);
    const reach = (tolerance * window.length) / this.plot_width;
    let nearest: Span | undefined;
    let min = reach;
    for (const span of panel.timeline.onLane(lane)) {
      const distance = Math.max(span.begin - time, time - span.end, 0);
      if (distance > min || (distance === min && nearest)) continue;
      nearest = span;
      min = distance;
    }
    return nearest && { panel, span: nearest };
  }

  private panelAt(top: number, { timeline, title }: Shown): Panel {
    const panel: Panel = { timeline, title, top, lanes: [], devices: [], bottom: top };
    let y = top + title_height;
    const order = new Set(timeline.devices);
    for (const device of order) {
      const begin = y;
      timeline.lanes.forEach((_, lane) => {
        if (timeline.devices[lane] !== device) return;
        panel.lanes[lane] = y;
        y += this.lane_height;
      });
      panel.devices[device] = [begin, y];
      y += gap_between_devices;
    }
    panel.bottom = y;
    return panel;
  }
}
