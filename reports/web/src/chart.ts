// A chart that is created when it comes near the screen, and redrawn when colours or width change.
import { echarts } from "./echarts";
import { whenNear } from "./near";
import { onThemeChange } from "./theme";

export type Chart = ReturnType<typeof echarts.init>;

export class LazyChart {
  private chart: Chart | undefined;

  /** `draw` is called whenever the chart must be drawn, `made` once before. */
  constructor(
    private readonly canvas: HTMLElement,
    private readonly draw: (chart: Chart) => void,
    private readonly made: (chart: Chart) => void = () => {},
  ) {
    onThemeChange(() => this.update());
    new ResizeObserver(() => this.chart?.resize()).observe(canvas);
    whenNear(canvas, () => this.start());
  }

  /** Returns the chart; undefined before it is created. */
  get(): Chart | undefined {
    return this.chart;
  }

  update(): void {
    if (this.chart) this.draw(this.chart);
  }

  private start(): void {
    this.chart = echarts.init(this.canvas, null, { renderer: "svg" });
    this.made(this.chart);
    this.update();
  }
}
