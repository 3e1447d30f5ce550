// Sorting and filtering, and the table as the text of every picture.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, failed, measured, report, sweep } from "./report.mjs";

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

const column = (page, n) => page.locator(`table.cases tbody tr > :nth-child(${n})`).allTextContents();

test("a heading sorts by number, in either direction, cases without one last", async () => {
  const cases = [...sweep().parbench.cases, failed("pipeline", { split: 40 }, "out of memory")];
  const page = await browser.open(report(cases));
  const heading = page.getByRole("columnheader", { name: "median" });
  await heading.getByRole("button").click();
  assert.equal(await heading.getAttribute("aria-sort"), "ascending");
  assert.deepEqual((await column(page, 2)).map(String), ["5", "3", "12", "20", "1", "–", "40"]);
  await heading.getByRole("button").press("Enter");
  assert.equal(await heading.getAttribute("aria-sort"), "descending");
  assert.deepEqual(await column(page, 2), ["–", "1", "20", "12", "3", "5", "40"]);
  assert.deepEqual(page.problems, []);
});

test("a filter keeps the rows that have all its words", async () => {
  const page = await browser.open(sweep());
  const rows = page.locator("table.cases tbody tr");
  assert.equal(await rows.count(), 6);
  await page.getByLabel("Filter").fill("single");
  assert.equal(await rows.count(), 1);
  assert.equal(await page.getByRole("status").textContent(), "1 of 6 cases");
  await page.getByLabel("Filter").fill("Pipeline 500.0");
  assert.equal(await rows.count(), 1);
  await page.getByLabel("Filter").fill("nothing has this");
  assert.equal(await rows.count(), 0);
  await page.getByLabel("Filter").fill("");
  assert.equal(await rows.count(), 6);
  assert.deepEqual(page.problems, []);
});

test("ten thousand cases open, a few hundred rows at a time, and sort and filter as a whole", async () => {
  const cases = Array.from({ length: 10_000 }, (_, n) => measured("spin", { n }, 1 + n, { samples: 3 }));
  const page = await browser.open(report(cases));
  const rows = page.locator("table.cases tbody tr");
  assert.equal(await page.getByRole("status").textContent(), "10000 cases");
  assert.equal(await rows.count(), 300);
  await page.getByRole("button", { name: /^median/ }).click();
  await page.getByRole("button", { name: /^median/ }).click();
  assert.equal((await column(page, 2))[0], "9999");
  await page.getByLabel("Filter").fill("9876");
  assert.equal(await page.getByRole("status").textContent(), "2 of 10000 cases"); // n and a time of it
  await page.getByLabel("Filter").fill("");
  await page.getByRole("button", { name: /^Show more/ }).click();
  assert.equal(await rows.count(), 3300);
  await page.locator(".pictures svg text").first().waitFor();
  assert.deepEqual(page.problems, []);
});

test("without script the table has every case", async () => {
  const page = await browser.open(sweep(), { javaScriptEnabled: false });
  assert.equal(await page.locator("table.cases tbody tr").count(), 6);
  assert.equal(await page.locator("svg").count(), 0);
  await page.getByText("How to read this").first().waitFor();
  assert.ok(await page.locator(".answer").isVisible());
});
