// Paints timelines on a canvas: axis, lanes, bubbles, bars, and the links of a marked task.
import type { Colours } from "../theme";
import { BarPainter, type BarStyle, fitted } from "./bars";
import type { Bar, Layout, Panel } from "./layout";
import type { Interval, Span } from "./model";
import { duration } from "../measures";
import type { TimeWindow } from "./window";

/** Max number of arrows of a task; further links are named below the picture only. */
const max_arrows = 400;
const pixels_between_ticks = 90;

export interface Scene {
  layout: Layout;
  window: TimeWindow;
  colours: Colours;
  font: string;
  marked: Bar | undefined;
  /** The bar at the pointer. */
  hovered: Bar | undefined;
}

/** Returns the number of bars in view. */
export function paint(context: CanvasRenderingContext2D, scene: Scene): number {
  return new Painter(context, scene).paint();
}

/** Returns the colours of bars in the order of `bar_names`, with readable colours for their text. */
export function barStyle(colours: Colours): BarStyle {
  const fill = [0, 1, 2, 5, 6, 4].map((index) => colours.series[index]!);
  return { fill, ink: fill.map(inkOn), faded: 0.22 };
}

/** Returns black or white, whichever has the larger contrast (WCAG 2). */
function inkOn(colour: string): string {
  const channel = (at: number) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? "#000000" : "#ffffff";
}

class Painter {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly scene: Scene,
  ) {}

  paint(): number {
    const { context, scene } = this;
    const { layout, colours } = scene;
    context.font = `12px ${scene.font}`;
    context.textBaseline = "middle";
    context.fillStyle = colours.card;
    context.fillRect(0, 0, layout.width, layout.height);
    this.axis();
    let bars = 0;
    for (const panel of layout.panels) bars += this.panel(panel);
    return bars;
  }

  private axis(): void {
    const { context, scene } = this;
    const { layout, window, colours } = scene;
    const ticks = window.ticks(layout.plot_width / pixels_between_ticks);
    context.textAlign = "center";
    for (const { time, label } of ticks) {
      const x = Math.round(layout.x(time, window)) + 0.5;
      this.line(x, layout.top - 4, x, layout.height, colours.line);
      const half = context.measureText(label).width / 2;
      context.fillStyle = colours.soft;
      context.fillText(label, Math.min(layout.width - half, Math.max(layout.gutter + half, x)), layout.top / 2 - 1);
    }
    this.line(layout.gutter, layout.top + 0.5, layout.right, layout.top + 0.5, colours.soft);
  }

  private panel(panel: Panel): number {
    const { context, scene } = this;
    const { layout, window } = scene;
    this.title(panel);
    context.save();
    context.beginPath();
    context.rect(layout.gutter - 1, layout.top, layout.plot_width + 2, layout.height);
    context.clip();
    this.lanes(panel);
    this.bubbles(panel);
    this.end(panel);
    const marked = scene.marked?.panel === panel ? scene.marked.span : undefined;
    const style = barStyle(scene.colours);
    context.textAlign = "left";
    context.font = `11px ${scene.font}`;
    const bars = new BarPainter(context, layout, window, style).paint(panel, marked && this.related(panel, marked));
    if (marked) this.links(panel, marked);
    if (scene.hovered?.panel === panel) this.outline(panel, scene.hovered.span, 1.5);
    context.restore();
    this.laneNames(panel);
    return bars;
  }

  private title({ top, title, timeline }: Panel): void {
    const { context, scene } = this;
    const { layout, colours } = scene;
    const y = top + 15;
    context.textAlign = "left";
    context.fillStyle = colours.card;
    context.fillRect(0, top + 4, layout.width, 22);
    context.font = `600 13px ${scene.font}`;
    context.fillStyle = colours.ink;
    const shown = fitted(context, title, layout.width - 110);
    context.fillText(shown, 0, y);
    const width = context.measureText(shown).width;
    context.font = `12px ${scene.font}`;
    context.fillStyle = colours.soft;
    context.fillText(`  ${duration(timeline.length, 4)}`, width, y);
  }

  private laneNames(panel: Panel): void {
    const { context, scene } = this;
    const { layout, colours } = scene;
    if (layout.lane_height < 12) return;
    context.font = `12px ${scene.font}`;
    context.textAlign = "right";
    context.fillStyle = colours.ink;
    panel.timeline.lanes.forEach((name, lane) => {
      const text = fitted(context, name, layout.gutter - 12);
      context.fillText(text, layout.gutter - 8, panel.lanes[lane]! + layout.lane_height / 2);
    });
  }

  /** Draws a frame around each device's lanes, up to the end of the execution. */
  private lanes({ devices, timeline }: Panel): void {
    const { layout, window, colours } = this.scene;
    const left = layout.x(0, window);
    const right = layout.x(timeline.length, window);
    this.context.strokeStyle = colours.line;
    this.context.lineWidth = 1;
    for (const device of devices) {
      if (!device) continue;
      const [top, bottom] = device;
      this.context.strokeRect(left - 0.5, top + 0.5, right - left, bottom - top - 1);
    }
  }

  private bubbles({ devices, timeline }: Panel): void {
    const { context, scene } = this;
    const { layout, window } = scene;
    const hatch = (intervals: Interval[][], rising: boolean) => {
      context.fillStyle = hatching(context, scene.colours, rising);
      intervals.forEach((gaps, device) => {
        const [top, bottom] = devices[device]!;
        for (const [begin, end] of gaps) {
          if (end < window.from || begin > window.to) continue;
          const left = Math.max(layout.gutter, layout.x(begin, window));
          const width = Math.min(layout.right, layout.x(end, window)) - left;
          if (width >= 0.5) context.fillRect(left, top + 1, width, bottom - top - 2);
        }
      });
    };
    hatch(timeline.bubbles, true);
    hatch(timeline.edges, false);
  }

  /** Draws the end of the execution: the other case may take longer. */
  private end({ timeline, devices, bottom }: Panel): void {
    const { layout, window, colours } = this.scene;
    const x = Math.round(layout.x(timeline.length, window)) - 0.5;
    const top = Math.min(...devices.filter((device) => device).map(([begin]) => begin));
    this.context.lineWidth = 2;
    this.line(x, top - 3, x, bottom - 2, colours.ink);
    this.context.lineWidth = 1;
  }

  /** Returns the marked task, those that it waits for and those that wait for it. */
  private related({ timeline }: Panel, { task }: Span): Set<number> {
    return new Set([task, ...timeline.dependenciesOf(task), ...timeline.dependentsOf(task)]);
  }

  private links(panel: Panel, marked: Span): void {
    const { timeline } = panel;
    const { colours } = this.scene;
    const first = (task: number) => timeline.spansOf(task)[0];
    let left = max_arrows;
    const arrow = (from: Span | undefined, to: Span | undefined, colour: string) => {
      if (from && to && left-- > 0) this.arrow(panel, from, to, colour);
    };
    for (const task of timeline.dependenciesOf(marked.task)) {
      const from = timeline.spansOf(task).reduce((a, b) => (b.end > a.end ? b : a));
      arrow(from, marked, colours.ink);
    }
    for (const task of timeline.dependentsOf(marked.task)) arrow(marked, first(task), colours.soft);
    for (const span of timeline.spansOf(marked.task)) this.outline(panel, span, 2.5);
  }

  /** Draws an arrow from the end of a task to the beginning of one that waits for it. */
  private arrow(panel: Panel, from: Span, to: Span, colour: string): void {
    const { context, scene } = this;
    const { layout, window } = scene;
    const middle = layout.bar_height / 2;
    const [x1, y1] = [layout.x(from.end, window), layout.barTop(panel, from) + middle];
    const [x2, y2] = [layout.x(to.begin, window), layout.barTop(panel, to) + middle];
    const bend = Math.max(14, Math.min(60, Math.abs(x2 - x1) / 2));
    const stroke = (width: number, style: string) => {
      context.lineWidth = width;
      context.strokeStyle = style;
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 4, y2);
      context.stroke();
    };
    stroke(4, scene.colours.card);
    stroke(1.6, colour);
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(x2 + 1, y2);
    context.lineTo(x2 - 7, y2 - 4);
    context.lineTo(x2 - 7, y2 + 4);
    context.fill();
    context.lineWidth = 1;
  }

  private outline(panel: Panel, span: Span, width: number): void {
    const { context, scene } = this;
    const { layout, window, colours } = scene;
    const left = layout.x(span.begin, window);
    const right = Math.max(left + 2, layout.x(span.end, window));
    context.strokeStyle = colours.ink;
    context.lineWidth = width;
    context.strokeRect(left - 1, layout.barTop(panel, span) - 1, right - left + 1, layout.bar_height + 2);
    context.lineWidth = 1;
  }

  private line(x1: number, y1: number, x2: number, y2: number, colour: string): void {
    this.context.strokeStyle = colour;
    this.context.beginPath();
    this.context.moveTo(x1, y1);
    this.context.lineTo(x2, y2);
    this.context.stroke();
  }
}

/** Returns a pattern of oblique lines, rising or falling to the right, which is visible without colours. */
function hatching(context: CanvasRenderingContext2D, colours: Colours, rising: boolean): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 7;
  const pen = tile.getContext("2d")!;
  pen.strokeStyle = colours.soft;
  pen.globalAlpha = 0.5;
  pen.beginPath();
  for (const shift of [-7, 0, 7]) {
    pen.moveTo(shift, rising ? 7 : 0);
    pen.lineTo(shift + 7, rising ? 0 : 7);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat") ?? colours.line;
}
