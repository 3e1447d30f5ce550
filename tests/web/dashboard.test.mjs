// The site that `parbench dashboard` writes, in a browser, from disk and from a server's sub-folder.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { Browser, eventually, failed, hostile, measured, report } from "./report.mjs";

let browser;
let history;
let site;

/** A run of one day: split 5 is 10% slower from day 30 on, split 12 as fast as before. */
function run(day, machine = {}) {
  const noise = 1 + 0.01 * Math.sin(12.9898 * day);
  const content = report([
    measured("pipeline", { split: 5 }, noise * (day < 30 ? 1 : 1.1)),
    measured("pipeline", { split: 12 }, 2 * noise),
    measured("single", {}, 3 * noise),
  ]);
  content.parbench.started_utc = new Date(Date.UTC(2024, 0, 1 + day, 10)).toISOString().slice(0, 19) + "Z";
  Object.assign(content.parbench.machine, { commit: `${100 + day}`.repeat(14).slice(0, 40), dirty: false }, machine);
  return content;
}

/** Builds a site of reports in a folder of its own. */
function build(name, reports) {
  const folder = join(browser.folder, name, "reports");
  mkdirSync(folder, { recursive: true });
  reports.forEach((content, i) => writeFileSync(join(folder, `${i}.json`), JSON.stringify(content)));
  const built = join(browser.folder, name, "site");
  execFileSync(process.env.PARBENCH_BINARY, ["dashboard", folder, "-o", built]);
  return built;
}

/** Addresses of a site's histories, relative to it. */
function histories(of) {
  return readdirSync(join(of, "history"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(of.length + 1));
}

before(async () => {
  browser = await Browser.start();
  site = build("one", Array.from({ length: 40 }, (_, day) => run(day)));
  history = `file://${site}/${histories(site)[0]}`;
});
after(() => browser.stop());

const sections = (page) => page.locator("section.case:visible");
const chart = (page) => page.locator("section.case .chart.history").first();

test("the first page leads to a change's point in its history, which marks it", async () => {
  const page = await browser.openAddress(`file://${site}/index.html`);
  const row = page.locator("#changes-table tbody tr");
  assert.equal(await row.count(), 1);
  assert.match(await row.textContent(), /pipeline, split 5\+10%.*129129.*130130/);
  await row.getByRole("link", { name: "pipeline, split 5" }).click();
  await page.waitForURL(/history\/.*#case-/);
  const section = page.locator(await page.evaluate(() => location.hash));
  await section.locator("svg").waitFor();
  assert.ok(await section.evaluate((one) => one.getBoundingClientRect().top < innerHeight));
  await section.locator("svg text", { hasText: "▲ +10%" }).waitFor();
  assert.deepEqual(page.problems, []);
});

test("only the case that changed has a mark", async () => {
  const page = await browser.openAddress(history);
  for (const section of await sections(page).all()) {
    await section.scrollIntoViewIfNeeded();
    await section.locator("svg text").first().waitFor();
    const changed = (await section.locator("h2").textContent()) === "pipeline, split 5";
    assert.equal(await section.locator("svg text", { hasText: /[▲▼]/ }).count(), changed ? 1 : 0);
  }
  assert.deepEqual(page.problems, []);
});

test("filters are in the address, a link shows the same, and back takes them back", async () => {
  const page = await browser.openAddress(history);
  assert.equal(await sections(page).count(), 3);
  await page.getByLabel("Strategy").selectOption("pipeline");
  assert.equal(await sections(page).count(), 2);
  await page.getByLabel("Filter").fill("split 12");
  assert.equal(await sections(page).count(), 1);
  assert.equal(await page.locator("#changes-table tbody tr:visible").count(), 0);
  assert.equal(await page.locator("#cases-table tbody tr").count(), 1);
  assert.equal(await page.getByRole("status").first().textContent(), "1 of 3 cases");
  const address = page.url();
  assert.ok(address.endsWith("#q=split+12&strategy=pipeline"), address);

  const other = await browser.openAddress(address);
  assert.equal(await sections(other).count(), 1);
  assert.equal(await other.getByLabel("Filter").inputValue(), "split 12");
  assert.equal(await other.getByLabel("Strategy").inputValue(), "pipeline");

  await page.goBack();
  assert.equal(await sections(page).count(), 2);
  assert.equal(await page.getByLabel("Filter").inputValue(), "");
  await page.goBack();
  assert.equal(await sections(page).count(), 3);
  await page.goForward();
  assert.equal(await sections(page).count(), 2);
  assert.deepEqual(page.problems, []);
});

test("the cases of a history are sorted by the column's own cells", async () => {
  const reports = Array.from({ length: 40 }, (_, day) => run(day));
  reports[39].parbench.cases[1] = failed("pipeline", { split: 12 }, "out of memory");
  const rare = measured("rare", {}, 4);
  reports[20].parbench.cases.push(rare);
  const built = build("sorted", reports);
  const page = await browser.openAddress(`file://${built}/${histories(built)[0]}`);
  const cases = page.locator("#cases-table tbody tr");
  const order = async () => (await cases.allTextContents()).map((text) => text.match(/^(pipeline(5|12)|single|rare)/)[0]);
  const sort = (name) => page.locator("#cases-table").getByRole("columnheader", { name }).getByRole("button").click();
  await sort("newest median");
  assert.deepEqual(await order(), ["pipeline5", "single", "pipeline12", "rare"]);
  await sort("reports");
  assert.deepEqual(await order(), ["rare", "pipeline12", "pipeline5", "single"]);
  await sort("reports");
  assert.deepEqual(await order(), ["pipeline5", "single", "pipeline12", "rare"]);
  await sort("last change");
  await sort("last change"); // descending
  assert.equal((await order())[0], "pipeline5");
  assert.deepEqual(page.problems, []);
});

test("a position on the page keeps the filters", async () => {
  const page = await browser.openAddress(`${history}#cases=changed`);
  assert.equal(await sections(page).count(), 1);
  await page.locator("#cases-table").getByRole("link", { name: "history" }).click();
  assert.match(page.url(), /#cases=changed&at=case-/);
  assert.equal(await sections(page).count(), 1);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "SECTION");
});

test("a point leads to its report by mouse", async () => {
  const page = await browser.openAddress(history);
  await chart(page).scrollIntoViewIfNeeded();
  await page.locator("section.case svg text").first().waitFor();
  const box = await chart(page).boundingBox();
  await page.mouse.move(box.x + box.width - 4, box.y + box.height / 2);
  const link = page.locator("section.case .chosen a").first();
  await link.waitFor();
  const target = await link.evaluate((one) => one.href);
  await page.mouse.click(box.x + box.width - 4, box.y + box.height / 2);
  await page.waitForURL(target);
  await page.getByRole("heading", { name: /^parbench: demo on/ }).waitFor();
  await page.locator(".pictures svg text").first().waitFor();
  await page.getByRole("link", { name: "History of demo" }).click();
  await page.waitForURL(history);
  assert.deepEqual(page.problems, []);
});

test("a point leads to its report by keyboard", async () => {
  const page = await browser.openAddress(history);
  await chart(page).focus();
  await page.keyboard.press("ArrowRight"); // the newest
  const chosen = page.locator("section.case .chosen").first();
  assert.match(await chosen.textContent(), /^2024-02-09 10:00 · 1391391391 · /);
  await page.keyboard.press("ArrowLeft");
  assert.match(await chosen.textContent(), /^2024-02-08 10:00 · 1381381381 · /);
  const target = await chosen.locator("a").evaluate((one) => one.href);
  await page.keyboard.press("Enter");
  await page.waitForURL(target);
  await page.getByText("2024-02-08T10:00:00Z").waitFor();
  assert.deepEqual(page.problems, []);
});

test("the range of reports and the scale are drawn as chosen", async () => {
  const long = build("long", Array.from({ length: 60 }, (_, day) => run(day)));
  const page = await browser.openAddress(`file://${long}/${histories(long)[0]}`);
  await chart(page).scrollIntoViewIfNeeded();
  await page.locator("section.case svg text", { hasText: "2024-01-01" }).first().waitFor();
  await page.getByRole("button", { name: "newest 50" }).click();
  await eventually(page, async () => (await chart(page).locator("text", { hasText: "2024-01-01" }).count()) === 0);
  assert.equal(await chart(page).locator("text", { hasText: /^0$/ }).count(), 0);
  await page.getByRole("button", { name: "from zero" }).click();
  await chart(page).locator("text", { hasText: /^0$/ }).waitFor();
  assert.ok(page.url().endsWith("#last=50&scale=zero"), page.url());
  assert.deepEqual(page.problems, []);
});

test("two machines are never in one line", async () => {
  const mixed = Array.from({ length: 20 }, (_, day) => [run(day), run(day, { cpu_model: "Another processor" })]).flat();
  const built = build("machines", mixed);
  assert.equal(histories(built).length, 2);
  for (const file of histories(built)) {
    const page = await browser.openAddress(`file://${built}/${file}`);
    const data = JSON.parse(await page.locator("#parbench-history").textContent());
    assert.equal(data.reports.started.length, 20);
    assert.ok(data.cases.every(({ at }) => at.length === 20));
  }
});

test("the site works from a sub-folder of a web server", async () => {
  const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript" };
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://any").pathname.replace(/^\/some\/folder\//, "");
    response.writeHead(200, { "content-type": types[extname(path)] ?? "text/plain" });
    response.end(readFileSync(join(site, path)));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const root = `http://127.0.0.1:${server.address().port}/some/folder/`;
  try {
    const page = await browser.openAddress(`${root}index.html`, {}, root);
    await page.getByRole("link", { name: "pipeline, split 5" }).click();
    await page.locator("section.case svg text", { hasText: "▲ +10%" }).first().waitFor();
    await page.locator("#changes-table").getByRole("link").nth(1).click();
    await page.locator(".pictures svg text").first().waitFor();
    assert.deepEqual(page.problems, []);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("hostile names stay text", async () => {
  const content = run(0, { cpu_model: hostile, commit: hostile });
  const bad = measured(hostile, { [hostile]: hostile }, 1);
  content.parbench.cases = [bad, { ...measured("other", { [hostile]: "</script>" }, 1) }];
  const built = build("hostile", [content]);
  for (const file of ["index.html", ...histories(built)]) {
    const page = await browser.openAddress(`file://${built}/${file}`);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.ok((await page.locator("body").textContent()).includes("<script>window.hacked"));
    assert.deepEqual(page.problems, []);
  }
});

test("without script the tables have changes, cases, newest results and reports", async () => {
  const page = await browser.openAddress(history, { javaScriptEnabled: false });
  assert.equal(await page.locator("#changes-table tbody tr").count(), 1);
  assert.equal(await page.locator("#cases-table tbody tr").count(), 3);
  assert.equal(await page.locator("section.case tbody tr").count(), 3 * 20);
  assert.equal(await page.locator("#reports tbody tr").count(), 40);
  await page.locator("#reports summary").click();
  await page.locator("#reports tbody a").last().click();
  await page.getByText("2024-01-01T10:00:00Z").waitFor();
});

test("dark and light follow the choice on every page", async () => {
  const page = await browser.openAddress(history, { colorScheme: "dark" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByRole("button", { name: "light" }).click();
  assert.notEqual(await background(), dark);
  assert.deepEqual(page.problems, []);
});

test("a narrow screen scrolls tables, not the page", async () => {
  for (const address of [history, `file://${site}/index.html`]) {
    const page = await browser.openAddress(address, { viewport: { width: 360, height: 700 } });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), address);
  }
});
