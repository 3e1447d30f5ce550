// A picture with its controls, which reads the table when the pointer is over it.
import { drawBars } from "./bars";
import { type Chart, LazyChart } from "./chart";
import { element, makeSelect, makeSwitch } from "./controls";
import { type Scenario, strategiesOf } from "./data";
import { drawDistributions } from "./distributions";
import type { Drawing, Entry, Request } from "./drawing";
import { drawHeatMap } from "./heatmap";
import { drawLines } from "./lines";
import { type Measure, measuresOf } from "./measures";
import { drawSamples } from "./samples";
import type { CaseTable } from "./table";
import { colours } from "./theme";
import { addTimelines } from "./timeline/section";
import { AxisSelectors } from "./selectors";
import { type View, isNumeric, varyingAxes, viewsOf } from "./views";

const draw_view: Record<View, (request: Request) => Drawing> = {
  bars: drawBars,
  lines: drawLines,
  "heat map": drawHeatMap,
};

/** ECharts' data of a point under the pointer. */
interface HoverPoint {
  data: { row?: number; deviation?: number; round?: number };
  seriesType?: string;
  value: number[];
}

/** A chart, its legend and its description; `draw` says what they show. */
class Figure {
  readonly root = element("figure");
  private readonly legend = element("div", { class: "legend", role: "group", "aria-label": "Series" });
  private readonly canvas = element("div", { class: "chart", role: "img" });
  private readonly caption = element("figcaption");
  /** Whether series are shown for which the reader has pressed a button, by name. */
  private readonly chosen = new Map<string, boolean>();
  private readonly chart: LazyChart;

  constructor(
    private readonly draw: () => Drawing,
    private readonly table: CaseTable,
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

  /** Describes it in words, which are there before the picture is drawn. */
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

  /** Of more series than can be distinguished, the others are shown on request. */
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

  /** As elements, so that no text of a report is ever read as markup. */
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

/** The scenario's picture and its samples over time. */
export function addPictures(scenario: Scenario, place: HTMLElement, table: CaseTable): void {
  const views = viewsOf(scenario);
  const measures = measuresOf(scenario);
  if (scenario.cases.length === 0 || measures.length === 0) return;
  const state = {
    view: views[0]!,
    measure: firstMeasure(views[0]!, measures),
    strategy: "",
    log: spansFactors(scenario),
  };
  const selectors = new AxisSelectors(scenario, () => change({}));
  const figure = new Figure(
    () => draw_view[state.view]({ ...selectors.chosen(state), ...state, colours: colours() }),
    table,
    `${scenario.id}-table`,
  );
  const tools = element("div", { class: "tools" });
  const change = (changes: Partial<typeof state>) => {
    Object.assign(state, changes);
    showControls();
    figure.update();
  };
  const everything = "the best of all";
  const strategies = makeSelect("Strategy", [everything, ...strategiesOf(scenario.cases)], everything, (chosen) =>
    change({ strategy: chosen === everything ? "" : chosen }),
  );
  const scale = makeSwitch("Scale", ["linear", "log"] as const, state.log ? "log" : "linear", (chosen) =>
    change({ log: chosen === "log" }),
  );
  const showControls = () => {
    strategies.hidden = state.view !== "heat map";
    scale.hidden = state.view === "heat map";
    selectors.show(state);
  };
  if (views.length > 1) tools.append(makeSwitch("Picture", views, state.view, (view) => change({ view })));
  if (measures.length > 1) tools.append(measureSwitch(measures, state.measure, (measure) => change({ measure })));
  tools.append(scale, strategies, selectors.root);
  showControls();
  place.append(tools, figure.root, samplesOf(scenario, table), distributionsOf(scenario, table));
  addTimelines(scenario, place);
}

function measureSwitch(measures: Measure[], chosen: Measure, onChange: (measure: Measure) => void): HTMLElement {
  const titles = measures.map((measure) => measure.title);
  return makeSwitch("Measure", titles, chosen.title, (title) => onChange(measures[titles.indexOf(title)]!));
}

/** Along an axis the work changes and the times with it, so that speedups are more useful. */
function firstMeasure(view: View, measures: Measure[]): Measure {
  const wanted = view === "bars" ? "time" : "speedup";
  return measures.find((measure) => measure.key === wanted) ?? measures[0]!;
}

/** Whether an axis runs over factors rather than differences. */
function spansFactors(scenario: Scenario): boolean {
  return varyingAxes(scenario).some((axis) => {
    if (!isNumeric(scenario, axis)) return false;
    const values = scenario.cases.map((c) => c.values[axis]).filter((v) => typeof v === "number");
    return Math.min(...values) > 0 && Math.max(...values) >= 16 * Math.min(...values);
  });
}

function samplesOf(scenario: Scenario, table: CaseTable): HTMLElement {
  const figure = new Figure(() => drawSamples(scenario, colours()), table, `${scenario.id}-table`);
  return element("details", { class: "samples" }, element("summary", {}, "Samples over time"), figure.root);
}

function distributionsOf(scenario: Scenario, table: CaseTable): HTMLElement {
  const figure = new Figure(() => drawDistributions(scenario, colours()), table, `${scenario.id}-table`);
  return element("details", { class: "distributions" }, element("summary", {}, "Distribution of samples"), figure.root);
}
