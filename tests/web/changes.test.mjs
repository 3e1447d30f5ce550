// The picture of changes, on the page of a comparison and beside the table of several reports.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, eventually, hostile, measured, report } from "./report.mjs";

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

const chart = (page) => page.locator(".pictures .chart").first();
const marks = (page) => chart(page).locator("svg path[fill]:not([fill=none]):not([fill=transparent])").count();

async function texts(page) {
  await chart(page).locator("svg text").first().waitFor();
  return chart(page).locator("svg text").allTextContents();
}

const of_medians = (medians) => report(Object.entries(medians).map(([name, median]) => measured(name, {}, median)));

test("a comparison is drawn as intervals, a series for each verdict", async () => {
  const page = await browser.openComparison(of_medians({ a: 1, b: 1, c: 1 }), of_medians({ a: 2, b: 0.5, c: 1.001 }));
  const shown = await texts(page);
  assert.ok(shown.some((text) => text.includes("change of the time")), `${shown}`);
  for (const name of ["a", "b", "c"]) assert.ok(shown.some((text) => text.endsWith(name)), `${name} in ${shown}`);
  assert.match(await chart(page).getAttribute("aria-label"), /NEW over BASE minus 1.*threshold of 2%\./);
  const legend = page.getByRole("group", { name: "Series" }).getByRole("button");
  assert.deepEqual(await legend.allTextContents(), ["● regressed", "● improved", "● undecided"]);
  assert.ok((await chart(page).locator("svg path[stroke-dasharray]").count()) >= 2, "the threshold");
  assert.deepEqual(page.problems, []);
});

test("pointing at a change shows its row, which a table sorts by number", async () => {
  const page = await browser.openComparison(of_medians({ a: 1, b: 1 }), of_medians({ a: 2, b: 1 }));
  await texts(page);
  const box = await chart(page).locator("svg path[fill='#d55e00']").first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await eventually(page, async () => (await page.locator(".hover").allTextContents()).join().includes("regressed"));
  const heading = page.getByRole("columnheader", { name: "change" });
  await heading.getByRole("button").click();
  const first = page.locator("table.cases tbody tr").first();
  assert.match(await first.textContent(), /undecided/);
  await page.getByLabel("Filter").fill("regressed");
  assert.equal(await page.locator("table.cases tbody tr").count(), 1);
  assert.deepEqual(page.problems, []);
});

test("several reports are drawn against the first, each as a series", async () => {
  const page = await browser.open([of_medians({ a: 1, b: 1 }), of_medians({ a: 1.5, b: 1 }), of_medians({ a: 3, b: 1.1 })]);
  const shown = await texts(page);
  assert.ok(shown.indexOf("demo/a") < shown.indexOf("demo/b"), "the largest difference first");
  const legend = page.locator("#side-by-side").getByRole("group", { name: "Series" }).getByRole("button");
  assert.equal(await legend.count(), 2);
  const all = await marks(page);
  await legend.first().click();
  await eventually(page, async () => (await marks(page)) < all);
  assert.deepEqual(page.problems, []);
});

test("one report alone and different cases have no picture of changes", async () => {
  const page = await browser.open([of_medians({ a: 1 }), of_medians({ b: 1 })]);
  assert.equal(await page.locator("#parbench-changes").count(), 0);
  assert.deepEqual(page.problems, []);
});

test("texts of reports are no markup in the picture of changes", async () => {
  const page = await browser.openComparison(of_medians({ [hostile]: 1 }), of_medians({ [hostile]: 2 }));
  await texts(page);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(page.problems, []);
});
