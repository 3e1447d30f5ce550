// The section "Timeline": two cases of a scenario below each other on a common time axis, with
// selectors and texts around the picture.
import { element, makeSelect } from "../controls";
import { type Scenario, type Timelines, caseText } from "../data";
import { colours, onThemeChange } from "../theme";
import { linkedFacts } from "./facts";
import type { Bar, Shown } from "./layout";
import { type Interval, type Timeline, TimelineStore, bar_names } from "./model";
import { barStyle } from "./painter";
import { TimelinePicture } from "./picture";

const its_baseline = "its baseline";
const nothing = "nothing";

const help =
  "Drag to move along time. The wheel zooms once the picture was clicked, or with Ctrl. With the " +
  "keyboard: + and − zoom, arrows move, 0 shows all; Enter marks a task, arrows then lead from task to " +
  "task (Shift and arrows move), Escape unmarks it.";

export function addTimelines(scenario: Scenario, parent: HTMLElement): void {
  const { timelines } = scenario;
  if (!timelines) return;
  const heading = parent.closest("section")?.querySelector("h2") ? "h3" : "h4";
  const section = element("section", { class: "when" }, element(heading, {}, "Timeline"));
  if (timelines.cases.length > 0) section.append(...new Comparison(scenario, timelines).elements());
  const without = withoutText(scenario, timelines);
  if (without !== "") section.append(element("p", { class: "without" }, without));
  parent.append(section);
}

/** The selectors, the picture and the texts of the section. */
class Comparison {
  private readonly store: TimelineStore;
  private readonly texts: Map<number, string>;
  private readonly caption = element("ul", { class: "shares" });
  private readonly legend = element("ul", { class: "kinds" });
  private readonly chosen = element("div", { class: "task", role: "status" });
  private readonly picture: TimelinePicture;
  private first: number;
  private second = its_baseline;
  private now: Shown[] = [];

  constructor(
    private readonly scenario: Scenario,
    private readonly timelines: Timelines,
  ) {
    this.store = new TimelineStore(timelines);
    const with_timeline = new Set(timelines.cases.map(({ row }) => row));
    const cases = scenario.cases.filter(({ row }) => with_timeline.has(row));
    this.texts = new Map(cases.map((c) => [c.row, caseText(scenario, c)]));
    this.first = timelines.first ?? timelines.cases[0]!.row;
    this.picture = new TimelinePicture(
      () => this.shown(),
      (bar) => this.describe(bar),
    );
  }

  elements(): HTMLElement[] {
    const id = `${this.scenario.id}-when`;
    this.caption.id = id;
    this.picture.canvas.setAttribute("aria-describedby", id);
    this.label();
    onThemeChange(() => this.showLegend());
    const figure = element("figure", {}, this.legend, this.picture.root, this.chosen, this.figcaption());
    return [this.tools(), figure];
  }

  private tools(): HTMLElement {
    const texts = [...this.texts.values()];
    const first = makeSelect("Case", texts, this.texts.get(this.first)!, (text) => {
      this.first = this.rowOf(text) ?? this.first;
      this.picture.update();
    });
    const others = [its_baseline, nothing, ...texts];
    const second = makeSelect("compared with", others, this.second, (text) => {
      this.second = text;
      this.picture.update();
    });
    const zoom = element("div", { class: "switch", role: "group", "aria-label": "Zoom" });
    const button = (text: string, label: string, act: () => void) => {
      const made = element("button", { type: "button", "aria-label": label }, text);
      made.addEventListener("click", act);
      zoom.append(made);
    };
    button("−", "Zoom out", this.picture.zoomOut);
    button("+", "Zoom in", this.picture.zoomIn);
    button("all", "Show all", this.picture.showAll);
    return element("div", { class: "tools" }, first, second, zoom);
  }

  private figcaption(): HTMLElement {
    return element("figcaption", {}, this.caption, element("p", { class: "help" }, help));
  }

  private rowOf(text: string): number | undefined {
    return [...this.texts].find(([, known]) => known === text)?.[0];
  }

  private secondRow(): number | undefined {
    if (this.second !== its_baseline) return this.rowOf(this.second);
    return this.timelines.cases.find(({ row }) => row === this.first)?.baseline;
  }

  /** Describes the picture, also before it is drawn. */
  private label(): void {
    const titles = [this.first, this.secondRow()].flatMap((row) => this.texts.get(row ?? -1) ?? []);
    this.picture.canvas.setAttribute("aria-label", `When the tasks of ${titles.join(" and ")} ran`);
  }

  private shown(): Shown[] {
    const shown = [this.first, this.secondRow()].flatMap((row) => {
      const timeline = this.store.get(row);
      return timeline ? [{ timeline, title: this.texts.get(timeline.row) ?? "" }] : [];
    });
    this.label();
    const items = shown.map(({ timeline, title }) => element("li", {}, `${title}: ${timeline.shares}.`));
    this.caption.replaceChildren(...items);
    this.now = shown;
    this.showLegend();
    return shown;
  }

  /** Shows the colours and patterns that occur in these cases. */
  private showLegend(): void {
    const { fill } = barStyle(colours());
    const seen = new Set(this.now.flatMap(({ timeline }) => timeline.spans.map(({ colour }) => colour)));
    const items = bar_names.flatMap((name, i) =>
      seen.has(i) ? [legendItem(name, "sign", `background: ${fill[i]}`)] : [],
    );
    const any = (of: (timeline: Timeline) => Interval[][]) =>
      this.now.some(({ timeline }) => of(timeline).some((gaps) => gaps.length > 0));
    if (any(({ bubbles }) => bubbles)) items.push(legendItem("idle between tasks", "sign hatched"));
    if (any(({ edges }) => edges)) {
      items.push(legendItem("idle before the first and after the last task (fill and drain)", "sign hatched falling"));
    }
    this.legend.replaceChildren(...items);
  }

  private describe(bar: Bar | undefined): void {
    if (!bar) return this.chosen.replaceChildren();
    const { panel, span } = bar;
    this.chosen.replaceChildren(linkedFacts(panel.timeline, span, (next) => this.picture.markIn(panel, next)));
  }
}

function legendItem(text: string, sign: string, style = ""): HTMLElement {
  return element("li", {}, element("span", { class: sign, style }), text);
}

/** Names the cases that cannot be chosen, and the reasons. */
function withoutText(scenario: Scenario, { without }: Timelines): string {
  const texts = without.map(({ reason, count, rows }) => {
    const cases = scenario.cases.filter(({ row }) => rows.includes(row));
    const named = cases.map((c) => caseText(scenario, c)).join("; ");
    return `${named}${count > rows.length ? `; and ${count - rows.length} more` : ""} (${reason})`;
  });
  return texts.length > 0 ? `Without a timeline: ${texts.join(". ")}.` : "";
}
