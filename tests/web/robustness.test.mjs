// Pages of reports that are not as one would wish.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, failed, hostile, measured, placeOfABar, report, sweep } from "./report.mjs";

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

test("a report with errors only has its reasons and no picture", async () => {
  const page = await browser.open(
    report([failed("a", {}, "the result is wrong"), failed("b", {}, "out of memory", "skipped")], { answers: [] }),
  );
  assert.equal(await page.locator("svg").count(), 0);
  await page.getByText("the result is wrong").waitFor();
  await page.getByText("out of memory").waitFor();
  await page.getByText("0 of 2 cases measured").waitFor();
  assert.deepEqual(page.problems, []);
});

test("a report without cases opens", async () => {
  const page = await browser.open(report([], { answers: [] }));
  await page.getByText("This report has no cases.").waitFor();
  assert.deepEqual(page.problems, []);
});

test("hostile names stay text, in tables, pictures and hovers", async () => {
  const cases = [measured(hostile, { [hostile]: hostile }, 1), measured("other", { [hostile]: "</script>" }, 2)];
  const content = report(cases, { answers: [{ scenario: "demo", question: hostile, text: hostile }] });
  content.parbench.machine.host = hostile;
  const page = await browser.open(content);
  await page.locator(".pictures svg text").first().waitFor();
  const { x, y } = await placeOfABar(page);
  await page.mouse.move(x, y);
  await page.locator("dl.hover").waitFor();
  assert.ok((await page.locator("dl.hover").textContent()).includes("<script>"));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator(".answer").textContent(), hostile);
  assert.ok((await page.title()).includes("<script>"));
  assert.deepEqual(page.problems, []);
});

test("numbers that were not finite leave gaps", async () => {
  const strange = measured("strange", {}, 1);
  strange.statistics.median = null;
  strange.statistics.median_interval.high = null;
  strange.samples[0].seconds = null;
  const page = await browser.openDamaged(report([strange, measured("sound", {}, 2)]));
  await page.locator(".pictures svg text").first().waitFor();
  await page.locator("details.samples summary").click();
  await page.locator("details.samples svg").waitFor();
  assert.deepEqual(page.problems, []);
});

test("several reports have sections, tables and pictures of their own", async () => {
  const page = await browser.open([sweep(), sweep()]);
  await page.locator("#report-2-scenario-1").scrollIntoViewIfNeeded();
  await page.locator("#report-2-scenario-1 .pictures svg text").first().waitFor();
  await page.locator("#report-1-scenario-1").getByLabel("Filter").fill("single");
  assert.equal(await page.locator("#report-1-scenario-1 table.cases tbody tr").count(), 1);
  assert.equal(await page.locator("#report-2-scenario-1 table.cases tbody tr").count(), 6);
  assert.deepEqual(page.problems, []);
});

test("a narrow screen scrolls tables, not the page", async () => {
  const page = await browser.open(sweep(), { viewport: { width: 360, height: 700 } });
  await page.locator(".pictures svg text").first().waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
});
