// Paints the bars of a case on a canvas. Merges bars that are too narrow to be distinguished.
import type { Layout, Panel } from "./layout";
import type { Span } from "./model";
import type { TimeWindow } from "./window";

/** Min width of a bar; narrower bars are merged into columns of pixels. */
const min_width = 1;
/** Min opacity of a column, so that short tasks stay visible. */
const min_cover = 0.6;
/** Min width of a bar with a name, and min share of the name that must be readable. */
const min_named = 30;
const min_readable = 0.5;

export interface BarStyle {
  /** Colours of bars, by index in `bar_names`. */
  fill: string[];
  /** Colours of the names on bars. */
  ink: string[];
  /** Opacity of bars that are not related to the marked one. */
  faded: number;
}

/** Tasks narrower than a pixel: the share of the column that they cover. */
interface Column {
  x: number;
  cover: number;
  colour: number;
}

export class BarPainter {
  private drawn = 0;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly layout: Layout,
    private readonly window: TimeWindow,
    private readonly style: BarStyle,
  ) {}

  /** `lit`: the tasks that are not faded; undefined: all. Returns the number of bars in view. */
  paint(panel: Panel, lit: Set<number> | undefined): number {
    this.drawn = 0;
    panel.timeline.lanes.forEach((_, lane) => this.paintLane(panel, panel.timeline.onLane(lane), lit));
    this.context.globalAlpha = 1;
    return this.drawn;
  }

  private paintLane(panel: Panel, spans: Span[], lit: Set<number> | undefined): void {
    let column: Column | undefined;
    const flush = () => {
      if (column) this.paintColumn(panel, spans[0]!, column, lit ? this.style.faded : 1);
      column = undefined;
    };
    for (const span of spans) {
      if (span.end < this.window.from || span.begin > this.window.to) continue;
      ++this.drawn;
      const left = Math.max(this.layout.gutter, this.layout.x(span.begin, this.window));
      const right = Math.min(this.layout.right, this.layout.x(span.end, this.window));
      const is_lit = !lit || lit.has(span.task);
      if (right - left >= min_width || (lit && is_lit)) {
        this.paintBar(panel, span, left, Math.max(min_width, right - left), is_lit);
        continue;
      }
      if (column && (Math.floor(left) !== column.x || span.colour !== column.colour)) flush();
      column ??= { x: Math.floor(left), cover: 0, colour: span.colour };
      column.cover += right - left;
    }
    flush();
  }

  private paintColumn(panel: Panel, span: Span, { x, cover, colour }: Column, alpha: number): void {
    this.context.globalAlpha = alpha * Math.min(1, Math.max(min_cover, cover));
    this.context.fillStyle = this.style.fill[colour]!;
    this.context.fillRect(x, this.layout.barTop(panel, span), 1, this.layout.bar_height);
  }

  private paintBar(panel: Panel, span: Span, left: number, width: number, is_lit: boolean): void {
    const top = this.layout.barTop(panel, span);
    // A gap keeps adjacent bars distinguishable.
    const visible = width > 3 ? width - 0.8 : width;
    this.context.globalAlpha = is_lit ? 1 : this.style.faded;
    this.context.fillStyle = this.style.fill[span.colour]!;
    this.context.fillRect(left, top, visible, this.layout.bar_height);
    if (this.layout.bar_height >= 12) this.paintName(span, left, top, visible);
  }

  /** Paints the number of the micro-batch if the whole name does not fit. */
  private paintName({ name, micro_batch, colour }: Span, left: number, top: number, width: number): void {
    const room = width - 8;
    const number = micro_batch === undefined ? "" : String(micro_batch);
    let text = width >= min_named ? fitted(this.context, name, room) : "";
    if (text !== name && number !== "") text = fitted(this.context, number, room) === number ? number : "";
    else if (text.length < min_readable * name.length) return;
    this.context.fillStyle = this.style.ink[colour]!;
    this.context.fillText(text, left + 4, top + this.layout.bar_height / 2 + 0.5);
  }
}

/** Returns as much of a text as fits. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  const whole = context.measureText(text).width;
  if (whole <= width) return text;
  let length = Math.floor((text.length * width) / whole);
  while (length > 0 && context.measureText(`${text.slice(0, length)}…`).width > width) --length;
  return length > 0 ? `${text.slice(0, length)}…` : "";
}
