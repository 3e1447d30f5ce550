// Sorting and filtering, and the table as the text of every picture.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, eventually, failed, measured, report, sweep } from "./report.mjs";

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

/** Of so many axes and devices. */
function wide(axes, devices) {
  const parameters = (n) => Object.fromEntries(Array.from({ length: axes }, (_, i) => [`p${i}`, n + i]));
  const single = measured("single", {}, 1);
  const others = [1, 2, 3].map((n) => ({
    ...measured("model-parallel", parameters(n), 1 / n, { baseline: single.name, speedup: n }),
    memory: Array.from({ length: devices }, (_, i) => ({ device: `cpu:${i}`, bytes: 1e9 + i * 1e8 })),
  }));
  return report([single, ...others]);
}

test("a table of an axis and two devices, bold where it is fastest, fits a page of 1200 pixels", async () => {
  const page = await browser.open(wide(1, 2));
  const [inside, whole] = await page.locator(".table").evaluate((table) => [table.clientWidth, table.scrollWidth]);
  assert.ok(whole <= inside, `${whole} of ${inside} pixels`);
});

test("a table that is wider than the page scrolls by itself, beside its first column", async () => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await browser.open(wide(12, 6), { javaScriptEnabled });
    const table = page.locator(".table");
    const strategy = page.getByRole("rowheader", { name: "model-parallel" }).first();
    const before = await strategy.boundingBox();
    const box = await table.boundingBox();
    await table.hover();
    await page.mouse.wheel(5000, 0);
    const last = page.locator(".cases tbody td:last-child").first();
    await eventually(page, async () => {
      const { x, width } = await last.boundingBox();
      return x + width <= box.x + box.width + 1;
    });
    assert.equal((await strategy.boundingBox()).x, before.x);
    const colours = await strategy.evaluate((cell) => getComputedStyle(cell).backgroundColor);
    assert.ok(!colours.endsWith(", 0)"), `what scrolls below it shows through ${colours}`);
    const { scroll, width } = await page.locator("html").evaluate((html) => ({ scroll: html.scrollWidth, width: html.clientWidth }));
    assert.equal(scroll, width, "the page itself does not scroll");
  }
});

test("without script the table has every case", async () => {
  const page = await browser.open(sweep(), { javaScriptEnabled: false });
  assert.equal(await page.locator("table.cases tbody tr").count(), 6);
  assert.equal(await page.locator("svg").count(), 0);
  await page.getByText("How to read this").first().waitFor();
  assert.ok(await page.locator(".answer").isVisible());
});
