// A chart with its legend, its description and a tooltip at the pointer.
import { type Chart, LazyChart } from "./chart";
import { element } from "./controls";
import type { Drawing, Entry } from "./drawing";

/** ECharts' data of the point at the pointer. */
interface HoverPoint {
  data: { row?: number; deviation?: number; round?: number };
  seriesType?: string;
  value: number[];
}

/** Provides the headings and texts of a row of the table for a tooltip. */
interface Cells {
  cells(row: number): [string, string][];
}

/** A chart with its legend and description; `draw` returns their contents. */
export class Figure {
  readonly root = element("figure");
  private readonly legend = element("div", { class: "legend", role: "group", "aria-label": "Series" });
  private readonly canvas = element("div", { class: "chart", role: "img" });
  private readonly caption = element("figcaption");
  /** Whether series are shown, by name, for series whose button was pressed. */
  private readonly chosen = new Map<string, boolean>();
  private readonly chart: LazyChart;

  constructor(
    private readonly draw: () => Drawing,
    private readonly table: Cells,
    table_id: string,
  ) {
    this.canvas.setAttribute("aria-describedby", table_id);
    this.root.append(this.legend, this.canvas, this.caption);
    this.describe(draw());
    this.chart = new LazyChart(this.canvas, (chart) => this.show(chart));
  }

  update(): void {
    if (this.chart.get()) this.chart.update();
    else this.describe(this.draw());
  }

  /** Sets height and description, also before the chart is drawn. */
  private describe(drawing: Drawing): void {
    this.canvas.style.height = `${drawing.height}px`;
    this.canvas.setAttribute("aria-label", `${drawing.description} The table has the same figures.`);
    this.caption.textContent = drawing.description + this.hiddenText(drawing);
  }

  private hiddenText(drawing: Drawing): string {
    const count = drawing.entries.length;
    const hidden = count - this.shownNames(drawing).size;
    if (hidden === 0) return "";
    const [verb, by_buttons] = hidden === 1 ? ["is", "its button shows it"] : ["are", "their buttons show them"];
    return ` ${hidden} of ${count} series ${verb} hidden; ${by_buttons}.`;
  }

  /** Returns the names of the series to show: the first `limit`, unless buttons were pressed. */
  private shownNames({ entries, limit = Infinity }: Drawing): Set<string> {
    return new Set(entries.map(({ name }) => name).filter((name, index) => this.chosen.get(name) ?? index < limit));
  }

  private show(chart: Chart): void {
    const drawing = this.draw();
    this.describe(drawing);
    chart.resize();
    chart.setOption(this.withHover(drawing), { notMerge: true });
    this.showLegend(drawing);
  }

  private withHover(drawing: Drawing) {
    const { option, entries } = drawing;
    const shown = this.shownNames(drawing);
    const selected = Object.fromEntries(entries.map(({ name }) => [name, shown.has(name)]));
    return {
      ...option,
      legend: { show: false, selected },
      tooltip: {
        ...option.tooltip,
        formatter: (point: HoverPoint) => this.hover(point),
      },
    };
  }

  /** Returns a tooltip made of elements, so that text of a report is never read as markup. */
  private hover(point: HoverPoint): HTMLElement {
    const list = element("dl", { class: "hover" });
    const add = (name: string, text: string) => list.append(element("dt", {}, name), element("dd", {}, text));
    if (point.seriesType === "scatter") {
      add("round", String(point.data.round ?? point.value[0]));
      add("deviation", `${(point.data.deviation ?? point.value[1]!).toFixed(2)}%`);
    }
    if (point.data.row !== undefined) for (const [name, text] of this.table.cells(point.data.row)) add(name, text);
    return list;
  }

  private showLegend(drawing: Drawing): void {
    this.legend.replaceChildren(...drawing.entries.map((entry) => this.legendButton(entry, drawing)));
  }

  private legendButton({ name, colour, symbol }: Entry, drawing: Drawing): HTMLElement {
    const isShown = () => this.shownNames(drawing).has(name);
    const sign = element("span", { "aria-hidden": "true", style: `color: ${colour}` }, symbol);
    const button = element("button", { type: "button", "aria-pressed": String(isShown()) }, sign, ` ${name}`);
    button.addEventListener("click", () => {
      this.chosen.set(name, !isShown());
      button.setAttribute("aria-pressed", String(isShown()));
      this.describe(drawing);
      this.chart.get()?.dispatchAction({ type: "legendToggleSelect", name });
    });
    return button;
  }
}
