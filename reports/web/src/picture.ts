// A picture with its controls; its tooltips show the texts of the table.
import { drawBars } from "./bars";
import { element, makeSelect, makeSwitch } from "./controls";
import type { Scenario } from "./data";
import { drawDistributions } from "./distributions";
import type { Drawing, Request } from "./drawing";
import { Figure } from "./figure";
import { drawHeatMap } from "./heatmap";
import { drawLines } from "./lines";
import { type Measure, measuresOf } from "./measures";
import { drawSamples } from "./samples";
import type { CaseTable } from "./table";
import { colours } from "./theme";
import { addTimelines } from "./timeline/section";
import { AxisSelectors } from "./selectors";
import { type View, crossedStrategies, isNumeric, varyingAxes, viewsOf } from "./views";

const draw_view: Record<View, (request: Request) => Drawing> = {
  bars: drawBars,
  lines: drawLines,
  "heat map": drawHeatMap,
};

/** Adds a scenario's pictures: measures, samples over time, their distributions and timelines. */
export function addPictures(scenario: Scenario, parent: HTMLElement, table: CaseTable): void {
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
  const figureOf = (draw: () => Drawing) => new Figure(draw, table, `${scenario.id}-table`);
  const figure = figureOf(() => draw_view[state.view]({ ...selectors.chosen(state), ...state, colours: colours() }));
  const tools = element("div", { class: "tools" });
  const change = (changes: Partial<typeof state>) => {
    Object.assign(state, changes);
    showControls();
    figure.update();
  };
  const everything = "the best of all";
  const crossed = crossedStrategies(scenario);
  const strategies = makeSelect("Strategy", [everything, ...crossed], everything, (chosen) =>
    change({ strategy: chosen === everything ? "" : chosen }),
  );
  const scale = makeSwitch("Scale", ["linear", "log"] as const, state.log ? "log" : "linear", (chosen) =>
    change({ log: chosen === "log" }),
  );
  const showControls = () => {
    strategies.hidden = state.view !== "heat map" || crossed.length < 2;
    scale.hidden = state.view === "heat map";
    selectors.show(state);
  };
  if (views.length > 1) tools.append(makeSwitch("Picture", views, state.view, (view) => change({ view })));
  if (measures.length > 1) tools.append(measureSwitch(measures, state.measure, (measure) => change({ measure })));
  tools.append(scale, strategies, selectors.root);
  showControls();
  const samples = figureOf(() => drawSamples(scenario, colours()));
  const distributions = figureOf(() => drawDistributions(scenario, colours()));
  parent.append(
    tools,
    figure.root,
    folded("samples", "Samples over time", samples),
    folded("distributions", "Distribution of samples", distributions),
  );
  addTimelines(scenario, parent);
}

function measureSwitch(measures: Measure[], chosen: Measure, onChange: (measure: Measure) => void): HTMLElement {
  const titles = measures.map((measure) => measure.title);
  return makeSwitch("Measure", titles, chosen.title, (title) => onChange(measures[titles.indexOf(title)]!));
}

/** Returns the first measure: speedups for lines and heat maps, because times change with the work. */
function firstMeasure(view: View, measures: Measure[]): Measure {
  const wanted = view === "bars" ? "time" : "speedup";
  return measures.find((measure) => measure.key === wanted) ?? measures[0]!;
}

/** Returns whether a numeric axis covers at least a factor of 16. */
function spansFactors(scenario: Scenario): boolean {
  return varyingAxes(scenario).some((axis) => {
    if (!isNumeric(scenario, axis)) return false;
    const values = scenario.cases.map((c) => c.values[axis]).filter((v) => typeof v === "number");
    return Math.min(...values) > 0 && Math.max(...values) >= 16 * Math.min(...values);
  });
}

/** Returns a figure below its title, folded. */
function folded(css_class: string, title: string, { root }: Figure): HTMLElement {
  return element("details", { class: css_class }, element("summary", {}, title), root);
}
