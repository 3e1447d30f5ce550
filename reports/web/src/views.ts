// Selects pictures by the axes that vary among the cases.
import { type Case, type Scenario, axisValues, casesByStrategy, groupBy, strategiesOf, valuesText } from "./data";
import { type Measure, best } from "./measures";

export type View = "bars" | "lines" | "heat map";

/** Max number of series that can be distinguished. */
export const max_series = 8;

/** Returns the cases of each strategy with at least two values of an axis. */
function strategiesThatVary(scenario: Scenario, axis: number): Case[][] {
  return [...casesByStrategy(scenario.cases).values()].filter((cases) => axisValues(cases, axis).length > 1);
}

/** Returns whether an axis has several values for the strategies of at least half of the cases. */
function variesForMost(scenario: Scenario, axis: number): boolean {
  return 2 * strategiesThatVary(scenario, axis).flat().length >= scenario.cases.length;
}

/** Returns the indices of the axes with several values. */
function axesWithChoice(scenario: Scenario): number[] {
  return scenario.axes.map((_, axis) => axis).filter((axis) => axisValues(scenario.cases, axis).length > 1);
}

/** Returns whether another axis determines the value of an axis, as a model determines its batch. */
function follows(scenario: Scenario, axis: number, other: number): boolean {
  const values = new Map<number | string | null, number | string>();
  return scenario.cases.every((c) => {
    const value = c.values[axis] ?? null;
    if (value === null) return true;
    const key = c.values[other] ?? null;
    if (!values.has(key)) values.set(key, value);
    return values.get(key) === value;
  });
}

/** Returns the axes that no other axis determines; of two that determine each other, the first. */
export function independentAxes(scenario: Scenario): number[] {
  const all = axesWithChoice(scenario);
  const isRedundant = (axis: number, other: number) =>
    axis !== other && follows(scenario, axis, other) && (other < axis || !follows(scenario, other, axis));
  return all.filter((axis) => !all.some((other) => isRedundant(axis, other)));
}

/** Returns the axes with several values: independent ones first, then those that vary for most strategies. */
export function varyingAxes(scenario: Scenario): number[] {
  const count = (axis: number) => axisValues(scenario.cases, axis).length;
  const independent = new Set(independentAxes(scenario));
  const axes = axesWithChoice(scenario);
  const weight = new Map(axes.map((axis) => [axis, strategiesThatVary(scenario, axis).length]));
  const follower = (axis: number) => Number(!independent.has(axis));
  return axes.sort(
    (a, b) => follower(a) - follower(b) || weight.get(b)! - weight.get(a)! || count(b) - count(a),
  );
}

/** Returns the strategies in a heat map of all cases. */
export function crossedStrategies(scenario: Scenario): string[] {
  const [across, down] = varyingAxes(scenario);
  const has = (c: Case, axis: number | undefined) => axis !== undefined && (c.values[axis] ?? null) !== null;
  return strategiesOf(scenario.cases.filter((c) => has(c, across) && has(c, down)));
}

export function isNumeric(scenario: Scenario, axis: number): boolean {
  return axisValues(scenario.cases, axis).every((value) => typeof value === "number");
}

/**
 * Returns the possible views; the first is shown initially. A heat map comes first if two
 * independent axes vary for at least half of the strategies; bars come before lines if no axis
 * varies for most cases, because lines would be levels.
 */
export function viewsOf(scenario: Scenario): View[] {
  const numeric = varyingAxes(scenario).filter((axis) => isNumeric(scenario, axis));
  const views: View[] = numeric.some((axis) => variesForMost(scenario, axis)) ? ["lines", "bars"] : ["bars"];
  if (numeric.length > 0 && views.length === 1) views.push("lines");
  const independent = independentAxes(scenario);
  if (independent.length > 1) views.push("heat map");
  const half = strategiesOf(scenario.cases).length / 2;
  const crossed = independent.filter((axis) => strategiesThatVary(scenario, axis).length >= half);
  if (crossed.length > 1) views.sort((a, b) => Number(b === "heat map") - Number(a === "heat map"));
  return views;
}

export interface Series {
  name: string;
  strategy: string;
  cases: Case[];
}

export interface SeriesChoice {
  series: Series[];
  /** Axes over which each point is the best case, to limit the number of series. */
  reduced: number[];
}

/** Returns series against an axis: a strategy with one value of each other axis, or the best over these. */
export function seriesAgainst(scenario: Scenario, axes: number[], axis: number, measure: Measure): SeriesChoice {
  const others = axes.filter((other) => other !== axis);
  const nameOf = (c: Case) => [c.strategy, valuesText(scenario, c, others)].filter((t) => t !== "").join(", ");
  const groups = groupBy(scenario.cases, nameOf);
  if (groups.size <= max_series) {
    const series = [...groups].map(([name, cases]) => ({ name, strategy: cases[0]!.strategy, cases }));
    return { series, reduced: [] };
  }
  const series = [...casesByStrategy(scenario.cases)].map(([strategy, own]) => {
    return { name: strategy, strategy, cases: bestPerValue(own, axis, measure) };
  });
  return { series, reduced: others };
}

/** Returns the axis along which lines are drawn. */
export function lineAxis(scenario: Scenario, axes: number[]): number {
  const numeric = axes.filter((axis) => isNumeric(scenario, axis));
  return numeric.find((axis) => variesForMost(scenario, axis)) ?? numeric[0]!;
}

/** Returns the axes that a picture of all cases cannot show; the picture has the best case over their values. */
export function hiddenAxes(scenario: Scenario, view: View, measure: Measure): number[] {
  const axes = varyingAxes(scenario);
  if (view === "heat map") return axes.slice(2);
  if (view === "bars") return [];
  return seriesAgainst(scenario, axes, lineAxis(scenario, axes), measure).reduced;
}

/** The shown value of an axis, by the index of the axis; all values of other axes are shown. */
export type Chosen = Map<number, number | string>;

/** Returns the cases with the chosen values, and those to which the axes do not apply. */
export function withValues(scenario: Scenario, chosen: Chosen): Scenario {
  const fits = (c: Case) => [...chosen].every(([axis, value]) => (c.values[axis] ?? value) === value);
  return { ...scenario, cases: scenario.cases.filter(fits) };
}

function bestPerValue(cases: Case[], axis: number, measure: Measure): Case[] {
  const groups = groupBy(cases, (c) => c.values[axis]);
  return [...groups.values()].flatMap((group) => best(group, measure) ?? []);
}
