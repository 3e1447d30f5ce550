// The picture of one case's history: its medians with intervals, and its changes. Its reports can be
// selected by mouse or arrow keys, and opened.
import { type Chart, LazyChart } from "../chart";
import { element } from "../controls";
import { axisStyle, baseOption } from "../drawing";
import type { CustomSeriesOption, CustomSeriesRenderItem, EChartsOption } from "../echarts";
import { duration } from "../measures";
import { type Colours, colours } from "../theme";
import { type CaseHistory, type History, timeText } from "./data";

export interface Range {
  /** Index of the first report that is shown. */
  first: number;
  /** Whether the axis of times begins at 0. */
  from_zero: boolean;
}

/** Max number of points that have symbols. */
const max_symbols = 200;

const keys_text = "Left and right arrow keys choose a report, Enter opens its page.";

export class HistoryPicture {
  private readonly canvas = element("div", { class: "chart history", tabindex: "0", role: "group" });
  private readonly chosen = element("p", { class: "chosen", role: "status" });
  private readonly chart: LazyChart;
  /** Index of the chosen report in the lists of the case. */
  private index: number | undefined;

  constructor(
    private readonly history: History,
    private readonly one: CaseHistory,
    root: HTMLElement,
    private readonly range: () => Range,
  ) {
    this.canvas.setAttribute("aria-label", `History of ${one.name}. ${keys_text}`);
    root.append(this.canvas, this.chosen);
    this.chart = new LazyChart(
      this.canvas,
      (chart) => this.draw(chart),
      (chart) => this.listen(chart),
    );
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  update(): void {
    this.chart.update();
  }

  private draw(chart: Chart): void {
    chart.resize();
    chart.setOption(this.option(), { notMerge: true });
  }

  private listen(chart: Chart): void {
    chart.getZr().on("mousemove", (event) => this.point(chart, event.offsetX, event.offsetY));
    chart.getZr().on("click", (event) => {
      this.point(chart, event.offsetX, event.offsetY);
      this.open();
    });
  }

  /** Chooses the report nearest to the mouse, which may be outside of the axes. */
  private point(chart: Chart, x: number, y: number): void {
    const [at] = chart.convertFromPixel("grid", [x, y]) as [number, number];
    this.choose(nearest(this.one.at, at, this.firstIndex()));
  }

  private key(event: KeyboardEvent): void {
    const last = this.one.at.length - 1;
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Enter") {
      this.open();
    } else if (move !== undefined) {
      const next = this.index === undefined ? last : this.index + move;
      this.choose(Math.min(last, Math.max(this.firstIndex(), next)));
    } else {
      return;
    }
    event.preventDefault();
  }

  private choose(index: number): void {
    if (index === this.index) return;
    this.index = index;
    const report = this.one.at[index]!;
    const link = element("a", { href: this.history.reports.page[report]! }, "open its report");
    this.chosen.replaceChildren(`${this.describe(index)} · `, link);
    this.update();
  }

  private open(): void {
    if (this.index !== undefined) location.assign(this.history.reports.page[this.one.at[this.index]!]!);
  }

  /** Returns "2026-11-21 19:57 · 5f6a7b8c9d · 2.99 s (2.95 s to 3.01 s)". */
  private describe(index: number): string {
    const report = this.one.at[index]!;
    const { started, commit } = this.history.reports;
    const low = this.one.low[index];
    const high = this.one.high[index];
    const interval = low != null && high != null ? ` (${duration(low, 4)} to ${duration(high, 4)})` : "";
    const change = this.one.changes.find(({ at }) => at === index);
    const changed = change ? ` · ${change.text} since the report before` : "";
    return `${timeText(started[report]!)} · ${commit[report]} · ${duration(this.one.median[index]!, 4)}${interval}${changed}`;
  }

  private firstIndex(): number {
    const { first } = this.range();
    const index = this.one.at.findIndex((report) => report >= first);
    return index < 0 ? this.one.at.length - 1 : index;
  }

  private shownIndices(): number[] {
    const { first } = this.range();
    return this.one.at.flatMap((report, index) => (report >= first ? [index] : []));
  }

  /** Returns the day of a report, with its time if a neighbour is of the same day. */
  private timeLabel(at: number): string {
    const { started } = this.history.reports;
    const [before, here, after] = [at - 1, at, at + 1].map((index) =>
      started[index] === undefined ? "" : timeText(started[index]),
    ) as [string, string, string];
    const day = here.slice(0, 10);
    return day === before.slice(0, 10) || day === after.slice(0, 10) ? here.slice(0, 16) : day;
  }

  private option(): EChartsOption {
    const now = colours();
    const style = axisStyle(now);
    const { first, from_zero } = this.range();
    const indices = this.shownIndices();
    const { started } = this.history.reports;
    return {
      ...baseOption(now),
      grid: { left: 12, right: 24, top: 28, bottom: 12, outerBoundsMode: "same", outerBoundsContain: "all" },
      tooltip: { show: false },
      xAxis: {
        ...style,
        type: "value",
        min: first,
        max: Math.max(first + 1, started.length - 1),
        minInterval: 1,
        splitLine: { show: false },
        axisLabel: {
          ...style.axisLabel,
          hideOverlap: true,
          formatter: (at: number) => this.timeLabel(at),
        },
      },
      yAxis: {
        ...style,
        type: "value",
        scale: !from_zero,
        axisLabel: { ...style.axisLabel, formatter: (value: number) => duration(value, 4) },
      },
      series: [this.band(indices, now), this.line(indices, now), this.marks(indices, now), this.cursor(now)],
    };
  }

  private line(indices: number[], { series }: Colours) {
    return {
      type: "line" as const,
      data: indices.map((index) => [this.one.at[index]!, this.one.median[index]!]),
      symbol: indices.length > max_symbols ? "none" : "circle",
      symbolSize: 5,
      silent: true,
      sampling: "lttb" as const,
      itemStyle: { color: series[0]! },
      lineStyle: { color: series[0]!, width: 1.5 },
      z: 4,
    };
  }

  /** Returns a polygon along all intervals. */
  private band(indices: number[], { series }: Colours): CustomSeriesOption {
    const { at, low, high } = this.one;
    const known = indices.filter((index) => low[index] != null && high[index] != null);
    const renderItem: CustomSeriesRenderItem = (_, api) => {
      const pixel = (x: number, y: number) => api.coord([x, y]) as [number, number];
      const upper = known.map((index) => pixel(at[index]!, high[index]!));
      const lower = known.map((index) => pixel(at[index]!, low[index]!)).reverse();
      return {
        type: "polygon",
        shape: { points: [...upper, ...lower] },
        style: { fill: series[0]!, opacity: 0.18 },
      };
    };
    // The axis of values derives its extent from the data of the series.
    const data = known.flatMap((index) => [[at[index]!, low[index]!], [at[index]!, high[index]!]]);
    const drawOnce: CustomSeriesRenderItem = (params, api) =>
      params.dataIndex === 0 ? renderItem(params, api) : { type: "group", children: [] };
    return { type: "custom", data, renderItem: drawOnce, silent: true, clip: true, z: 3 };
  }

  /** Returns a line between the reports before and after each change, with its size above. */
  private marks(indices: number[], { diverging, ink }: Colours): CustomSeriesOption {
    const { at } = this.one;
    const shown = this.one.changes.filter((change) => change.at > (indices[0] ?? 0));
    const renderItem: CustomSeriesRenderItem = (params, api) => {
      const change = shown[params.dataIndex]!;
      const area = params.coordSys as unknown as { y: number; height: number };
      const [x] = api.coord([api.value(0), api.value(1)]) as [number, number];
      const colour = change.slower ? diverging[0] : diverging[2];
      return {
        type: "group",
        children: [
          {
            type: "line",
            shape: { x1: x, y1: area.y, x2: x, y2: area.y + area.height },
            style: { stroke: colour, lineWidth: 2, lineDash: [5, 3] },
          },
          {
            type: "text",
            style: {
              text: `${change.slower ? "▲" : "▼"} ${change.text.split(" ")[0]!}`,
              x,
              y: area.y - 4,
              align: "center",
              verticalAlign: "bottom",
              fill: ink,
              fontSize: 12,
            },
          },
        ],
      };
    };
    const data = shown.map((change) => [
      (at[change.at - 1]! + at[change.at]!) / 2,
      this.one.median[change.at]!,
    ]);
    return { type: "custom", data, renderItem, silent: true, z: 5 };
  }

  /** Returns the mark of the chosen report. */
  private cursor({ ink }: Colours) {
    const chosen = this.index !== undefined && this.index >= this.firstIndex() ? [this.index] : [];
    return {
      type: "scatter" as const,
      data: chosen.map((index) => [this.one.at[index]!, this.one.median[index]!]),
      symbolSize: 11,
      silent: true,
      itemStyle: { color: "transparent", borderColor: ink, borderWidth: 2 },
      z: 6,
    };
  }
}

/** Returns the index of the number nearest to `wanted`, from `first` on; numbers ascend. */
function nearest(numbers: number[], wanted: number, first: number): number {
  let best = first;
  for (let index = first; index < numbers.length; ++index) {
    if (Math.abs(numbers[index]! - wanted) < Math.abs(numbers[best]! - wanted)) best = index;
  }
  return best;
}
