// The canvas with timelines: draws them after changes, and handles pointer, wheel and keys.
import { element } from "../controls";
import { whenNear } from "../near";
import { colours, isPrinting, onThemeChange } from "../theme";
import { factsOf } from "./facts";
import { neighbour } from "./keyboard";
import { type Bar, Layout, type Panel, type Shown } from "./layout";
import type { Span } from "./model";
import { paint } from "./painter";
import { TimeWindow } from "./window";

const zoom_factor = 1.6;
/** Share of the visible time by which an arrow key moves. */
const pan_share = 0.15;
/** Min movement of a drag, in pixels. */
const min_drag = 4;
const paper_scale = 3;

export class TimelinePicture {
  readonly root = element("div", { class: "timelines" });
  readonly canvas = element("canvas", { tabindex: "0", role: "application", "aria-roledescription": "timeline" });
  private readonly hover = element("div", { class: "tip", hidden: "" });
  private readonly window = new TimeWindow();
  private shown: Shown[] = [];
  private layout = new Layout([], 1, 0);
  private marked: Bar | undefined;
  private hovered: Bar | undefined;
  private frame = 0;
  private near = false;

  /** `onMark` receives the marked task; `cases` returns the cases to show when they are needed. */
  constructor(
    private readonly cases: () => Shown[],
    private readonly onMark: (bar: Bar | undefined) => void,
  ) {
    this.root.append(this.canvas, this.hover);
    this.listen();
    onThemeChange(() => this.drawNow());
    new ResizeObserver(() => this.root.clientWidth !== this.layout.width && this.arrange()).observe(this.root);
    whenNear(this.root, () => {
      this.near = true;
      this.update();
    });
  }

  /** Shows other cases in full length. */
  update(): void {
    if (!this.near) return;
    this.shown = this.cases();
    this.window.reset(Math.max(...this.shown.map(({ timeline }) => timeline.length)));
    this.mark(undefined);
    this.arrange();
  }

  zoom(factor: number, fixed?: number): void {
    this.window.zoom(factor, fixed);
    this.changed();
  }

  zoomIn = () => this.zoom(zoom_factor);
  zoomOut = () => this.zoom(1 / zoom_factor);

  showAll = () => this.zoom(0);

  mark(bar: Bar | undefined): void {
    this.marked = bar;
    if (bar) this.window.reveal(bar.span.begin, bar.span.end);
    this.onMark(bar);
    this.changed();
  }

  private arrange(): void {
    const width = this.root.clientWidth;
    if (width === 0 || !this.near) return;
    this.layout = new Layout(this.shown, width, this.gutter(width));
    // Finds the marked task's timeline among the new panels.
    const panel = this.layout.panels.find(({ timeline }) => timeline === this.marked?.panel.timeline);
    this.marked = panel && this.marked && { panel, span: this.marked.span };
    this.hovered = undefined;
    this.drawNow();
  }

  /** Returns the space for the longest name of a lane. */
  private gutter(width: number): number {
    const context = this.canvas.getContext("2d")!;
    context.font = `12px ${font()}`;
    const names = this.shown.flatMap(({ timeline }) => timeline.lanes);
    const longest = names.reduce((max, name) => Math.max(max, context.measureText(name).width), 0);
    return Math.ceil(Math.min(longest + 14, 0.3 * width));
  }

  private changed(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.drawNow());
  }

  /** Draws immediately: a printer does not wait for the next frame. */
  private drawNow(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.near) return;
    const { width, height } = this.layout;
    const scale = isPrinting() ? paper_scale : devicePixelRatio;
    const pixels = [Math.round(width * scale), Math.round(height * scale)] as const;
    // Setting either size clears the canvas and reallocates it.
    if (this.canvas.width !== pixels[0] || this.canvas.height !== pixels[1]) {
      [this.canvas.width, this.canvas.height] = pixels;
    }
    const context = this.canvas.getContext("2d", { alpha: false })!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const { layout, window, marked, hovered } = this;
    const bars = paint(context, { layout, window, colours: colours(), font: font(), marked, hovered });
    this.describe(bars);
  }

  /** Publishes values that tests cannot read from pixels: seconds, and the number of bars in view. */
  private describe(bars: number): void {
    Object.assign(this.canvas.dataset, {
      from: String(this.window.from),
      to: String(this.window.to),
      bars: String(bars),
      marked: this.marked?.span.name ?? "",
    });
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => event.buttons === 0 && this.point(event));
    canvas.addEventListener("pointerleave", () => this.unpoint());
  }

  /** The wheel zooms if the picture has the focus, or with Ctrl; otherwise it scrolls the page. */
  private wheel(event: WheelEvent): void {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan((event.deltaX / this.layout.plot_width) * this.window.length);
      return;
    }
    const wanted = event.ctrlKey || document.activeElement === this.canvas;
    if (!wanted || (event.deltaY > 0 && this.window.isWhole && !event.ctrlKey)) return;
    event.preventDefault();
    this.unpoint();
    const time = this.layout.time(Math.max(this.layout.gutter, event.offsetX), this.window);
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : 33 * event.deltaY;
    this.zoom(Math.exp(-Math.max(-300, Math.min(300, pixels)) / 250), time);
  }

  private pan(seconds: number): void {
    this.window.pan(seconds);
    this.changed();
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    const begin = event.clientX;
    let last = begin;
    let dragged = false;
    const { canvas } = this;
    canvas.setPointerCapture(event.pointerId);
    this.unpoint();
    const move = ({ clientX }: PointerEvent) => {
      dragged ||= Math.abs(clientX - begin) >= min_drag;
      if (!dragged) return;
      canvas.classList.add("dragged");
      this.pan(((last - clientX) / this.layout.plot_width) * this.window.length);
      last = clientX;
    };
    const ended = new AbortController();
    const end = ({ type, offsetX, offsetY }: PointerEvent) => {
      ended.abort();
      canvas.classList.remove("dragged");
      if (type === "pointerup" && !dragged) this.mark(this.layout.at(offsetX, offsetY, this.window));
    };
    canvas.addEventListener("pointermove", move, { signal: ended.signal });
    canvas.addEventListener("pointerup", end, { signal: ended.signal });
    canvas.addEventListener("pointercancel", end, { signal: ended.signal });
  }

  private point({ offsetX, offsetY }: PointerEvent): void {
    const bar = this.layout.at(offsetX, offsetY, this.window);
    if (bar?.span !== this.hovered?.span) {
      this.hovered = bar;
      if (bar) this.hover.replaceChildren(factsOf(bar.panel.timeline, bar.span));
      this.changed();
    }
    this.hover.hidden = !bar;
    if (!bar) return;
    const { offsetWidth, offsetHeight } = this.hover;
    const right = this.layout.width - offsetWidth;
    const below = offsetY + 18;
    const top = below + offsetHeight > this.layout.height ? offsetY - offsetHeight - 10 : below;
    this.hover.style.left = `${Math.max(0, Math.min(right, offsetX + 12))}px`;
    this.hover.style.top = `${top}px`;
  }

  private unpoint(): void {
    this.hover.hidden = true;
    if (!this.hovered) return;
    this.hovered = undefined;
    this.changed();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.act(event.key, event.shiftKey)) return;
    event.preventDefault();
    this.unpoint();
  }

  /** Returns whether the key has a function. */
  private act(key: string, shift: boolean): boolean {
    if (key === "+" || key === "=") this.zoomIn();
    else if (key === "-") this.zoomOut();
    else if (key === "0" || key === "Home") this.showAll();
    else if (key === "Enter" || key === " ") this.markFirst();
    else if (key === "Escape" && this.marked) this.mark(undefined);
    else if (this.marked && !shift && key.startsWith("Arrow")) this.moveMark(this.marked, key);
    else if (key === "ArrowLeft" || key === "ArrowRight") {
      this.pan((key === "ArrowLeft" ? -pan_share : pan_share) * this.window.length);
    } else return false;
    return true;
  }

  /** Marks the first task in view; if one is marked, the first of the other case. */
  private markFirst(): void {
    const { panels } = this.layout;
    const at = this.marked ? panels.indexOf(this.marked.panel) + 1 : 0;
    const in_view = ({ begin, end }: Span) => end >= this.window.from && begin <= this.window.to;
    for (const panel of [...panels.slice(at), ...panels.slice(0, at)]) {
      const span = panel.timeline.spans.find(in_view);
      if (span) return this.mark({ panel, span });
    }
  }

  private moveMark({ panel, span }: Bar, key: string): void {
    const next = neighbour(panel, span, key);
    if (next) this.mark({ panel, span: next });
  }

  /** Marks a task of a case and focuses the picture, so that keys apply to it. */
  markIn(panel: Panel, span: Span): void {
    this.canvas.focus();
    this.mark({ panel, span });
  }
}

function font(): string {
  return getComputedStyle(document.body).fontFamily;
}
