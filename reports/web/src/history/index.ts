// The first page of a dashboard, with one filter for all of its tables.
import { Address } from "../address";
import { element } from "../controls";
import { CaseTable } from "../table";

export function addIndex(): void {
  const results = document.getElementById("results");
  if (!results || !document.getElementById("parbench-index")) return;
  const tables = [...results.querySelectorAll<HTMLTableElement>("table")].map(
    (table) => new CaseTable(table, { things: "rows", own_filter: false, plain_columns: 0 }),
  );
  if (tables.length === 0) return;
  const input = element("input", { type: "search", placeholder: "words to be found in a row" });
  const address = new Address(["q"], () => show());
  const show = () => {
    const { q } = address.read();
    if (input.value !== q) input.value = q;
    for (const table of tables) table.filter(q);
  };
  input.addEventListener("input", () => {
    address.choose({ q: input.value }, "q");
    show();
  });
  results.prepend(element("div", { class: "tools" }, element("label", {}, "Filter", input)));
  show();
}
