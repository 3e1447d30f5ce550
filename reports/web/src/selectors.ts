// Selectors for the values of axes that a picture cannot show.
import { element, makeSelect } from "./controls";
import { type Scenario, axisValues } from "./data";
import type { Measure } from "./measures";
import { type Chosen, type View, hiddenAxes, independentAxes, varyingAxes, withValues } from "./views";

const all_values = "all values";

interface Shown {
  view: View;
  measure: Measure;
}

export class AxisSelectors {
  readonly root = element("span", { class: "axes" });
  private readonly values: Chosen = new Map();
  private readonly elements = new Map<number, HTMLElement>();

  constructor(
    private readonly scenario: Scenario,
    changed: () => void,
  ) {
    for (const axis of independentAxes(scenario)) {
      const values = axisValues(scenario.cases, axis);
      const texts = [all_values, ...values.map(String)];
      const select = makeSelect(scenario.axes[axis]!, texts, all_values, (text) => {
        const value = values[texts.indexOf(text) - 1];
        if (value === undefined) this.values.delete(axis);
        else this.values.set(axis, value);
        changed();
      });
      this.elements.set(axis, select);
      this.root.append(select);
    }
  }

  /** Shows the selectors that the picture needs and that have several values or a chosen one. */
  show({ view, measure }: Shown): void {
    const hidden = hiddenAxes(this.scenario, view, measure);
    for (const [axis, select] of this.elements) {
      const left = this.valuesLeft(axis, hidden);
      const texts = new Set(left.map(String));
      for (const option of [...select.querySelectorAll("option")].slice(1)) {
        option.hidden = option.disabled = !texts.has(option.value);
      }
      select.hidden = !hidden.includes(axis) || (left.length < 2 && !this.values.has(axis));
    }
  }

  /** Returns the values of an axis among the cases with the chosen values of other axes. */
  private valuesLeft(axis: number, hidden: number[]): (number | string)[] {
    const others: Chosen = new Map([...this.values].filter(([one]) => one !== axis && hidden.includes(one)));
    return axisValues(withValues(this.scenario, others).cases, axis);
  }

  /** Returns the cases of a picture, and the axes that vary among them, in the order of all axes. */
  chosen({ view, measure }: Shown): { scenario: Scenario; axes: number[] } {
    const hidden = hiddenAxes(this.scenario, view, measure);
    const chosen: Chosen = new Map([...this.values].filter(([axis]) => hidden.includes(axis)));
    const axes = varyingAxes(this.scenario).filter((axis) => !chosen.has(axis));
    return { scenario: withValues(this.scenario, chosen), axes };
  }
}
