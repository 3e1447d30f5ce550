// Sorts and filters a table that is complete without the script. Of a long table, the document contains
// only the rows that are shown.
import { element } from "./controls";

const rows_at_a_time = 300;

interface Row {
  element: HTMLTableRowElement;
  text: string;
}

export interface TableOptions {
  /** Name of the rows, for their count. */
  things: string;
  /** Whether the table gets a filter field; without one, the owner of the table calls `filter`. */
  own_filter: boolean;
  /** Number of columns at the end of the table that are neither sorted nor searched. */
  plain_columns: number;
}

const table_of_cases: TableOptions = { things: "cases", own_filter: true, plain_columns: 1 };

export class CaseTable {
  private readonly rows: Row[];
  private readonly body: HTMLTableSectionElement;
  private readonly headings: HTMLTableCellElement[];
  private readonly count = element("span", { class: "count", role: "status" });
  private readonly more = element("button", { type: "button", class: "more" });
  private order: Row[];
  private words: string[] = [];
  private keep: (row: HTMLTableRowElement) => boolean = () => true;
  private shown = rows_at_a_time;

  constructor(
    private readonly table: HTMLTableElement,
    private readonly options: TableOptions = table_of_cases,
  ) {
    this.body = table.tBodies[0]!;
    this.headings = [...table.tHead!.rows[0]!.cells];
    this.rows = [...this.body.rows].map((row) => ({ element: row, text: "" }));
    this.order = this.rows;
    this.addSorting();
    this.addTools();
    this.render();
    // Opens a table that the HTML folds because it is long: now only its first rows are shown.
    const fold = table.closest<HTMLDetailsElement>("details.long");
    if (fold) fold.open = true;
    // Prints all rows that pass the filter, because paper has no buttons.
    addEventListener("beforeprint", () => this.show(Infinity));
    addEventListener("afterprint", () => this.show(rows_at_a_time));
  }

  /** Returns the row of a case, whether it is shown or not. */
  row(index: number): HTMLTableRowElement | undefined {
    return this.rows[index]?.element;
  }

  /** Returns heading and text of each cell of a case for a tooltip, without the folded details. */
  cells(index: number): [string, string][] {
    const row = this.row(index);
    if (!row) return [];
    const cells = cellsByColumn(row);
    return this.sortable()
      .map((heading, i): [string, string] => [headingText(heading), cells[i]?.textContent ?? ""])
      .filter(([, text]) => text !== "" && text !== "–");
  }

  /** Shows the rows that contain all words and pass `keep`. Returns their number. */
  filter(words: string, keep: (row: HTMLTableRowElement) => boolean = () => true): number {
    this.words = words.toLowerCase().split(/\s+/).filter((word) => word !== "");
    this.keep = keep;
    this.shown = rows_at_a_time;
    return this.render();
  }

  private sortable(): HTMLTableCellElement[] {
    return this.headings.slice(0, this.headings.length - this.options.plain_columns);
  }

  private addSorting(): void {
    this.sortable().forEach((heading, column) => {
      const title = heading.textContent ?? "";
      heading.dataset["title"] = title;
      const button = element("button", { type: "button", class: "sort" }, title);
      button.addEventListener("click", () => this.sort(column));
      heading.replaceChildren(button);
    });
  }

  private sort(column: number): void {
    const heading = this.headings[column]!;
    const descending = heading.getAttribute("aria-sort") === "ascending";
    for (const other of this.headings) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const keyed = this.rows.map((row) => ({ row, key: sortKey(row.element, column) }));
    const sign = descending ? -1 : 1;
    // Rows without a number are last in both directions.
    keyed.sort((a, b) => {
      if (a.key === undefined || b.key === undefined) {
        return Number(a.key === undefined) - Number(b.key === undefined);
      }
      return sign * compare(a.key, b.key);
    });
    this.order = keyed.map(({ row }) => row);
    this.render();
  }

  private addTools(): void {
    const region = this.table.parentElement!;
    region.after(this.more);
    this.more.addEventListener("click", () => this.show(this.shown + 10 * rows_at_a_time));
    if (!this.options.own_filter) return;
    const input = element("input", { type: "search", placeholder: "words to be found in a row" });
    input.addEventListener("input", () => this.filter(input.value));
    region.before(element("div", { class: "tools" }, element("label", {}, "Filter", input), this.count));
  }

  private show(rows: number): void {
    this.shown = rows;
    this.render();
  }

  private matches(row: Row): boolean {
    if (!this.keep(row.element)) return false;
    if (this.words.length === 0) return true;
    // Reads the text of thousands of rows only when the user searches. Excludes the folded details,
    // which name other cases.
    if (row.text === "") {
      const cells = [...row.element.cells].slice(0, row.element.cells.length - this.options.plain_columns);
      row.text = cells.map((cell) => cell.textContent).join(" ").toLowerCase();
    }
    return this.words.every((word) => row.text.includes(word));
  }

  private render(): number {
    const found = this.order.filter((row) => this.matches(row));
    this.body.replaceChildren(...found.slice(0, this.shown).map((row) => row.element));
    const all = this.rows.length;
    this.count.textContent = countText(found.length, all, this.options.things);
    const hidden = found.length - this.shown;
    this.more.hidden = !(hidden > 0);
    this.more.textContent = `Show more (${hidden} of ${found.length} are not shown)`;
    return found.length;
  }
}

/** Returns "12 cases", "3 of 12 cases". */
export function countText(found: number, all: number, things: string): string {
  return found === all ? `${all} ${things}` : `${found} of ${all} ${things}`;
}

function headingText(heading: HTMLTableCellElement): string {
  return heading.dataset["title"] ?? heading.textContent ?? "";
}

/** Returns the cell in each column; one that spans several columns occurs in each of them. */
function cellsByColumn(row: HTMLTableRowElement): HTMLTableCellElement[] {
  return [...row.cells].flatMap((cell) => Array<HTMLTableCellElement>(cell.colSpan).fill(cell));
}

/** Returns the number that a cell represents, else its text; undefined if it has neither. */
function sortKey(row: HTMLTableRowElement, column: number): number | string | undefined {
  const cell = cellsByColumn(row)[column];
  if (!cell || cell.classList.contains("reason")) return undefined;
  if (cell.dataset["v"] !== undefined) return Number(cell.dataset["v"]);
  const text = cell.textContent ?? "";
  return text === "" || text === "–" ? undefined : text;
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}
