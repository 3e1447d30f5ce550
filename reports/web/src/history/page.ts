// The page of a history; its address determines the shown cases and reports.
import { Address } from "../address";
import { element, makeSelect, makeSwitch } from "../controls";
import { CaseTable, countText } from "../table";
import { type CaseHistory, type History, readHistory } from "./data";
import { HistoryPicture, type Range } from "./picture";

const keys = ["q", "strategy", "last", "cases", "scale"] as const;
type Key = (typeof keys)[number];

const every_strategy = "all";
const default_last = 200;

export function addHistory(): void {
  const history = readHistory();
  const results = document.getElementById("results");
  if (history && results) new HistoryPage(history, results).show();
}

/** Returns the numbers of newest reports that can be shown. */
function ranges(reports: number): string[] {
  return [...[50, 200, 1000].filter((count) => count < reports).map(String), "all"];
}

class HistoryPage {
  private readonly address = new Address<Key>(keys, () => this.show());
  private readonly tools = element("div", { class: "tools filters", role: "group", "aria-label": "What is shown" });
  private readonly count = element("span", { class: "count", role: "status" });
  private readonly table: CaseTable | undefined;
  private readonly pictures = new Map<string, HistoryPicture>();

  constructor(
    private readonly history: History,
    private readonly results: HTMLElement,
  ) {
    results.prepend(this.tools);
    const table = document.querySelector<HTMLTableElement>("#cases-table");
    if (table) this.table = new CaseTable(table, { things: "cases", own_filter: false, plain_columns: 1 });
    for (const one of history.cases) this.addPicture(one);
    results.addEventListener("click", (event) => this.follow(event));
  }

  /** Shows the page according to its address. */
  show(): void {
    this.tools.replaceChildren(...this.controls(), this.count);
    this.apply();
    this.goTo(this.address.read().at);
  }

  private addPicture(one: CaseHistory): void {
    const pictures = document.getElementById(one.id)?.querySelector<HTMLElement>(".pictures");
    if (pictures && one.at.length > 0) {
      this.pictures.set(one.id, new HistoryPicture(this.history, one, pictures, () => this.range()));
    }
  }

  private range(): Range {
    const { last, scale } = this.address.read();
    const reports = this.history.reports.started.length;
    const shown = last === "all" ? reports : Number(last === "" ? default_last : last) || default_last;
    return { first: Math.max(0, reports - shown), from_zero: scale === "zero" };
  }

  private apply(): void {
    const { q, strategy, cases } = this.address.read();
    const words = q.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const shown = new Set(
      this.history.cases
        .filter((one) => words.every((word) => one.name.toLowerCase().includes(word)))
        .filter((one) => strategy === "" || one.strategy === strategy)
        .filter((one) => cases !== "changed" || one.changes.length > 0)
        .map((one) => one.id),
    );
    this.table?.filter("", (row) => shown.has(row.dataset["case"] ?? ""));
    for (const part of this.results.querySelectorAll<HTMLElement>("section.case, #changes-table tr[data-case]")) {
      part.hidden = !shown.has(part.dataset["case"] ?? "");
    }
    for (const picture of this.pictures.values()) picture.update();
    this.count.textContent = countText(shown.size, this.history.cases.length, "cases");
  }

  private choose(changes: Partial<Record<Key, string>>, typing?: Key): void {
    this.address.choose(changes, typing);
    this.apply();
  }

  private controls(): HTMLElement[] {
    const { q, strategy, last, cases, scale } = this.address.read();
    const input = element("input", { type: "search", placeholder: "words of a case" });
    input.value = q;
    input.addEventListener("input", () => this.choose({ q: input.value }, "q"));
    const controls: HTMLElement[] = [element("label", {}, "Filter", input)];
    const strategies = [...new Set(this.history.cases.map((one) => one.strategy))];
    if (strategies.length > 1) {
      const chosen = strategy === "" ? every_strategy : strategy;
      controls.push(
        makeSelect("Strategy", [every_strategy, ...strategies], chosen, (option) =>
          this.choose({ strategy: option === every_strategy ? "" : option }),
        ),
      );
    }
    if (this.history.cases.some((one) => one.changes.length > 0)) {
      controls.push(
        makeSwitch("Cases", ["all", "changed"] as const, cases === "changed" ? "changed" : "all", (option) =>
          this.choose({ cases: option === "all" ? "" : option }),
        ),
      );
    }
    return [...controls, ...this.rangeControls(last), this.scaleControl(scale)];
  }

  private rangeControls(last: string): HTMLElement[] {
    const reports = this.history.reports.started.length;
    const options = ranges(reports);
    if (options.length < 2) return [];
    const usual = reports > default_last ? String(default_last) : "all";
    const chosen = options.includes(last) ? last : usual;
    const texts = new Map(options.map((option) => [option === "all" ? "all reports" : `newest ${option}`, option]));
    const title = [...texts.keys()].find((text) => texts.get(text) === chosen)!;
    const change = (text: string) => {
      const option = texts.get(text)!;
      this.choose({ last: option === usual ? "" : option });
    };
    return [makeSwitch("Reports", [...texts.keys()], title, change)];
  }

  private scaleControl(scale: string): HTMLElement {
    return makeSwitch("Scale", ["fitted", "from zero"] as const, scale === "zero" ? "from zero" : "fitted", (option) =>
      this.choose({ scale: option === "fitted" ? "" : "zero" }),
    );
  }

  /** Follows links within the page and keeps the filters. */
  private follow(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href^='#']") : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const id = link.getAttribute("href")!.slice(1);
    this.address.choose({ at: id });
    this.goTo(id);
  }

  private goTo(id: string): void {
    const target = id === "" ? null : document.getElementById(id);
    if (!target) return;
    target.tabIndex = -1;
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  }
}
