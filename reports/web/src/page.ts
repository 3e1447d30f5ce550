// Makes the page interactive: pictures, sorting, filtering, colours. The script adds no information
// to the page.
import { addChanges } from "./changes";
import { makeSwitch } from "./controls";
import { readData } from "./data";
import { addPictures } from "./picture";
import { CaseTable } from "./table";
import { addThemeSwitch } from "./theme";

const tools = document.getElementById("page-tools");
if (tools) addThemeSwitch(tools, makeSwitch);

for (const scenario of readData()) {
  const section = document.getElementById(scenario.id);
  const table = section?.querySelector<HTMLTableElement>("table.cases");
  const pictures = section?.querySelector<HTMLElement>(".pictures");
  if (table && pictures) addPictures(scenario, pictures, new CaseTable(table));
}

addChanges();
