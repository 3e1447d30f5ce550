// What the binary measures of scenarios of several devices, on pages and in dashboards: tiny cases.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser, eventually } from "./report.mjs";

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

const parbench = (...words) => execFileSync(process.env.PARBENCH_BINARY, words, { stdio: "pipe" });

const skip = availableParallelism() < 2 && "one core: no second device";
const runs = {
  collectives: ["--size", "4KiB"],
  "data-parallel": ["--model", "linear"],
  "tensor-parallel": ["--model", "perceptron-block", "--batch", "4", "--hidden", "16", "--sequence", "8"],
  hybrid: ["--model", "mlp", "--batch", "8", "--hidden", "16", "--layers", "4"],
  graph: ["--dag", "mlp,layered", "--batch", "8", "--features", "16", "--nodes", "12"],
};

for (const [scenario, sizes] of Object.entries(runs)) {
  test(`${scenario}: every case is on the page with its timeline, and has a history`, { skip }, async () => {
    const folder = join(browser.folder, scenario);
    mkdirSync(join(folder, "reports"), { recursive: true });
    const [first, second] = ["first", "second"].map((name) => join(folder, "reports", `${name}.json`));
    for (const report of [first, second]) {
      parbench("--scenario", scenario, "--devices", "2", ...sizes, "--benchmark_repetitions=3", "--report", report);
    }
    const { cases } = JSON.parse(readFileSync(first)).parbench;
    const measured = cases.filter((one) => one.status === "measured");
    assert.ok(measured.length > 1);

    const file = join(folder, "page.html");
    parbench("html", first, "-o", file);
    const page = await browser.openAddress(`file://${file}`);
    assert.equal(await page.locator("table.cases tbody tr").count(), cases.length);
    const picture = await page.locator(".pictures > figure .chart").getAttribute("aria-label");
    assert.doesNotMatch(picture, /against zero/, "only sharded has a level of ZeRO");
    const canvas = page.locator(".when canvas");
    await canvas.scrollIntoViewIfNeeded();
    await eventually(page, () => canvas.evaluate((one) => Number(one.dataset.bars) > 0));
    assert.deepEqual(page.problems, []);

    const site = join(folder, "site");
    parbench("dashboard", join(folder, "reports"), "-o", site, "--strict");
    const [history] = readdirSync(join(site, "history"), { recursive: true }).filter((name) => name.endsWith(".html"));
    const histories = await browser.openAddress(`file://${join(site, "history", history)}`);
    assert.equal(await histories.locator("section.case").count(), measured.length);
    assert.deepEqual(histories.problems, []);
  });
}
