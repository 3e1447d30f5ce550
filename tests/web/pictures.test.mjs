// Pictures follow from the data, and can be read without seeing them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, cube, eventually, grid, measured, pipeline, placeOfABar, report, sweep } from "./report.mjs";

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

const chart = (page) => page.locator(".pictures > figure .chart");
const press = (page, name) => page.getByRole("button", { name, exact: true }).first().click();

/** Texts in the picture's SVG. */
async function texts(page) {
  await chart(page).locator("svg text").first().waitFor();
  return chart(page).locator("svg text").allTextContents();
}

test("a sweep of one axis is drawn as lines with intervals and bounds", async () => {
  const page = await browser.open(sweep());
  const shown = await texts(page);
  for (const text of ["split", "1", "3", "5", "12", "20", "speedup over single"]) {
    assert.ok(shown.includes(text), `${text} in ${shown}`);
  }
  assert.match(await chart(page).getAttribute("aria-label"), /^speedup over single against split/);
  assert.equal(await chart(page).getAttribute("role"), "img");
  assert.ok((await chart(page).locator("svg path[stroke-dasharray]").count()) > 0, "bounds");
  assert.ok((await chart(page).locator("svg path[fill-opacity]").count()) > 0, "bands");
  assert.deepEqual(page.problems, []);
});

test("measure and scale can be switched", async () => {
  const page = await browser.open(sweep());
  await press(page, "time");
  await eventually(page, async () => (await texts(page)).some((text) => / m?s$/.test(text)));
  await press(page, "throughput");
  await eventually(page, async () => (await texts(page)).some((text) => text.endsWith(" images/s")));
  const log = await texts(page);
  await press(page, "linear");
  await eventually(page, async () => String(await texts(page)) !== String(log));
  assert.deepEqual(page.problems, []);
});

test("amounts of different units have a throughput each", async () => {
  const cases = [measured("BM_parse", {}, 1), measured("BM_scan", {}, 2), measured("BM_copy", {}, 1)];
  cases.forEach((one, index) => Object.assign(one, index < 2 ? { amount: 3, amount_unit: "items" } : { amount: 12e9, amount_unit: "B" }));
  const page = await browser.open(report(cases));
  await press(page, "throughput in B");
  await eventually(page, async () => (await texts(page)).some((text) => text.endsWith(" GB/s")));
  assert.ok((await texts(page)).every((text) => !text.endsWith("items/s") && text !== "BM_parse"));
  await press(page, "throughput in items");
  await eventually(page, async () => (await texts(page)).some((text) => text.endsWith(" items/s")));
  assert.match(await chart(page).getAttribute("aria-label"), /Largest throughput in items: BM_parse, 3 items\/s/);
  assert.ok(!(await texts(page)).includes("BM_copy"));
  assert.deepEqual(page.problems, []);
});

test("strategies without parameters are drawn as bars", async () => {
  const page = await browser.open(report([measured("a", {}, 1), measured("b", {}, 2)]));
  assert.match(await chart(page).getAttribute("aria-label"), /^Bars of time.*Shortest time: a, 1 s\./);
  assert.ok((await texts(page)).includes("a"));
  assert.deepEqual(page.problems, []);
});

test("an axis of one strategy among several is drawn as bars, and lines have the others as levels", async () => {
  const single = measured("single", {}, 8);
  const others = ["tower", "replicate", "all-reduce"].map((name, index) => measured(name, {}, 4 + index, { baseline: single.name, speedup: 2 }));
  const sharded = [1, 2, 3].map((zero) => measured("sharded", { zero }, 5, { baseline: single.name, speedup: 1.6 }));
  const page = await browser.open(report([single, ...others, ...sharded]));
  assert.match(await chart(page).getAttribute("aria-label"), /^Bars of time/);
  const shown = await texts(page);
  for (const text of ["tower", "replicate", "all-reduce", "sharded, zero 2"]) assert.ok(shown.includes(text), `${text} in ${shown}`);
  await press(page, "lines");
  assert.match(await chart(page).getAttribute("aria-label"), /against zero/);
  for (const name of ["tower", "replicate", "all-reduce", "sharded"]) {
    assert.ok(await page.getByRole("button", { name }).first().isVisible(), name);
  }
  assert.deepEqual(page.problems, []);
});

test("two axes are drawn as a heat map, of the best or of one strategy", async () => {
  const page = await browser.open(grid());
  assert.ok((await texts(page)).some((text) => text.includes("2×")));
  assert.match(await chart(page).getAttribute("aria-label"), /by image and batch/);
  await page.getByLabel("Strategy").selectOption("one-stream");
  assert.match(await chart(page).getAttribute("aria-label"), /best case of one-stream/);
  await eventually(page, async () => (await texts(page)).includes("1×"));
  await press(page, "lines");
  assert.match(await chart(page).getAttribute("aria-label"), /against image/);
  assert.deepEqual(page.problems, []);
});

test("a button of the legend hides a series", async () => {
  const page = await browser.open(sweep());
  await texts(page);
  const marks = () => chart(page).locator("svg path").count();
  const all = await marks();
  const button = page.getByRole("group", { name: "Series" }).first().getByRole("button", { name: "pipeline" });
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  await eventually(page, async () => (await marks()) < all);
  await button.press("Enter");
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  await eventually(page, async () => (await marks()) === all);
});

test("pointing at a case shows its figures", async () => {
  const page = await browser.open(report([measured("a", {}, 1), measured("b", {}, 2)]));
  await texts(page);
  const { x, y } = await placeOfABar(page);
  await page.mouse.move(x, y);
  const hover = page.locator("dl.hover");
  await hover.waitFor();
  assert.match(await hover.textContent(), /median ± 95% CI1\.000 s ± 2\.0%/);
});

test("samples over time show where the next process begins", async () => {
  const one = measured("a", {}, 1, { samples: 9 });
  one.samples.forEach((sample, index) => (sample.process = Math.floor(index / 3)));
  const page = await browser.open(report([one]));
  const samples = page.locator("details.samples");
  await samples.locator("summary").click();
  await samples.locator("svg text").first().waitFor();
  assert.match(await samples.locator("[role=img]").getAttribute("aria-label"), /3 processes/);
  assert.equal(await samples.locator("svg path[stroke-dasharray]").count(), 2);
  assert.deepEqual(page.problems, []);
});

test("one sample far from the others stands at the edge as an arrow with its figure", async () => {
  const one = measured("a", {}, 1, { samples: 40 });
  one.samples[3].seconds = 30;
  one.samples[20].seconds = 0.2;
  const page = await browser.open(report([one]));
  const samples = page.locator("details.samples");
  await samples.locator("summary").click();
  await samples.locator("svg text").first().waitFor();
  const labels = (await samples.locator("svg text").allTextContents()).filter((text) => text.endsWith("%"));
  const numbers = labels.map((text) => Number(text.replace("−", "-").replace("%", "")));
  assert.ok(Math.max(...numbers) < 10 && Math.min(...numbers) > -10, `the others fill the picture: ${labels}`);
  assert.match(await samples.locator("[role=img]").getAttribute("aria-label"), /2 of 40 samples lie beyond the scale/);
  const arrows = await samples.locator("svg path").evaluateAll((paths) =>
    paths.map((path) => path.getBoundingClientRect()).filter(({ width, height }) => width > 8 && width < 20 && height > 8 && height < 20),
  );
  assert.equal(arrows.length, 2);
  const highest = arrows.reduce((a, b) => (a.y < b.y ? a : b));
  await page.mouse.move(highest.x + highest.width / 2, highest.y + highest.height / 2);
  await page.locator("dl.hover").waitFor();
  assert.match(await page.locator("dl.hover").textContent(), /round3deviation2900\.00%/);
  assert.deepEqual(page.problems, []);
});

test("the scale of samples ends at −100%, and holds all of them where none is far off", async () => {
  const one = measured("a", {}, 1, { samples: 12 });
  one.samples.forEach((sample, i) => (sample.seconds = i % 2 === 0 ? 0.001 : 3));
  const page = await browser.open(report([one]));
  const samples = page.locator("details.samples");
  await samples.locator("summary").click();
  await samples.locator("svg text").first().waitFor();
  const labels = (await samples.locator("svg text").allTextContents()).filter((text) => text.endsWith("%"));
  const min = Math.min(...labels.map((text) => Number(text.replace("−", "-").replace("%", ""))));
  assert.equal(min, -100);
  assert.doesNotMatch(await samples.locator("[role=img]").getAttribute("aria-label"), /beyond/);
});

test("pictures have their description before they are drawn", async () => {
  const page = await browser.open([grid(), grid(), grid(), pipeline()], { viewport: { width: 1200, height: 300 } });
  const all = page.locator(".pictures [role=img]");
  assert.equal(await all.count(), 13);
  const undrawn = await all.evaluateAll((charts) => charts.filter((chart) => !chart.querySelector("svg")).length);
  assert.ok(undrawn >= 4, "below the fold");
  for (const label of await all.evaluateAll((charts) => charts.map((chart) => chart.getAttribute("aria-label")))) {
    assert.match(label ?? "", /The table has the same figures/);
  }
  const timeline = page.locator(".pictures canvas");
  assert.match(await timeline.getAttribute("aria-label"), /^When the tasks of pipeline.* ran/);
  await page.getByRole("button", { name: "time", exact: true }).last().click();
  assert.match(await all.nth(10).getAttribute("aria-label"), /time/);
});

test("samples over time are drawn when they are unfolded", async () => {
  const page = await browser.open(sweep());
  const samples = page.locator("details.samples");
  assert.equal(await samples.locator("svg").count(), 0);
  await samples.locator("summary").click();
  await samples.locator("svg text").first().waitFor();
  assert.ok((await samples.locator("svg path").count()) >= 6 * 8, "a mark for each sample");
  assert.deepEqual(page.problems, []);
});

test("colours follow the system, the switch, and paper", async () => {
  const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const ink = (page) => chart(page).locator("svg text").first().getAttribute("fill");
  const page = await browser.open(sweep(), { colorScheme: "dark" });
  await texts(page);
  const dark = await background(page);
  const dark_ink = await ink(page);
  await press(page, "light");
  assert.notEqual(await background(page), dark);
  await eventually(page, async () => (await ink(page)) !== dark_ink);
  await press(page, "dark");
  assert.equal(await background(page), dark);
  await eventually(page, async () => (await ink(page)) === dark_ink);
  await page.emulateMedia({ media: "print" });
  assert.equal(await background(page), "rgb(255, 255, 255)");
  await eventually(page, async () => (await ink(page)) !== dark_ink);
  assert.ok((await page.pdf()).length > 10_000);
  assert.deepEqual(page.problems, []);
});

test("axes that a picture cannot show have selectors", async () => {
  const page = await browser.open(cube());
  const selector = (axis) => page.locator(".axes label", { hasText: axis });
  await texts(page);
  await press(page, "lines");
  const label = async () => await chart(page).getAttribute("aria-label");
  const [, along] = /against (\w+)/.exec(await label());
  const others = ["batch", "image", "streams"].filter((axis) => axis !== along);
  assert.match(await label(), /Each point is the best over \w+, \w+\./);
  assert.equal(await selector(along).isVisible(), false);
  for (const axis of others) assert.equal(await selector(axis).isVisible(), true, axis);
  await selector(others[0]).locator("select").selectOption({ index: 1 });
  await eventually(page, async () => !/Each point is the best/.test(await label()));
  const series = page.getByRole("group", { name: "Series" }).first().getByRole("button");
  await eventually(page, async () => (await series.count()) > 2);
  for (const name of await series.allTextContents()) {
    assert.ok(!name.includes(`${others[0]} `), `${name} has no value of the chosen axis`);
  }
  assert.equal(await selector(others[1]).isVisible(), true, "stays, to choose another");
  await press(page, "heat map");
  assert.equal(await page.locator(".axes label:visible").count(), 1);
  const before = await texts(page);
  await page.locator(".axes label:visible select").selectOption({ index: 1 });
  await eventually(page, async () => String(await texts(page)) !== String(before));
  assert.deepEqual(page.problems, []);
});

test("axes without a choice of their own have no selectors", async () => {
  // Each model has a batch of its own, of three layouts one has a split, and rnn has one layout.
  const cases = ["gpt", "rnn", "resnet"].flatMap((model, i) => {
    const own = { model, batch: 8 + i };
    const divided = ["dp2", "pp2", "tp2"].flatMap((layout) =>
      [1, 2].map((depth) => {
        const split = layout === "pp2" ? { split: 2 + i } : {};
        return measured("divided", { ...own, layout, depth, ...split }, 1 + depth);
      }),
    );
    return [measured("single", own, 4), ...divided.slice(0, model === "rnn" ? 2 : 6)];
  });
  const page = await browser.open(report(cases));
  await texts(page);
  assert.match(await chart(page).getAttribute("aria-label"), /by model and layout/);
  assert.deepEqual(await page.locator(".axes label:visible").allTextContents(), ["depthall values12"]);
  assert.equal(await page.locator(".tools label", { hasText: "Strategy" }).isVisible(), false, "only one has layouts");
  await press(page, "lines");
  const selector = (axis) => page.locator(".axes label", { hasText: axis });
  for (const axis of ["batch", "split"]) assert.equal(await selector(axis).count(), 0, axis);
  await selector("model").locator("select").selectOption("rnn");
  await eventually(page, async () => !(await selector("layout").isVisible()), "one layout is left");
  assert.equal(await selector("model").isVisible(), true, "stays, to choose another");
  assert.deepEqual(page.problems, []);
});

test("of more than eight lines the others are shown on request", async () => {
  const strategies = Array.from({ length: 10 }, (_, index) => `strategy-${index}`);
  const cases = strategies.flatMap((name, index) => [1, 2].map((n) => measured(name, { n }, n * (index + 1))));
  const page = await browser.open(report(cases));
  await texts(page);
  const buttons = page.getByRole("group", { name: "Series" }).first().getByRole("button");
  const pressed = () => buttons.evaluateAll((all) => all.map((one) => one.getAttribute("aria-pressed")));
  assert.deepEqual(await pressed(), [...Array(8).fill("true"), "false", "false"]);
  const caption = () => page.locator(".pictures > figure figcaption").textContent();
  assert.match(await caption(), / 2 of 10 series are hidden; their buttons show them\.$/);
  const marks = () => chart(page).locator("svg path").count();
  const before = await marks();
  await buttons.last().click();
  await eventually(page, async () => (await marks()) > before);
  assert.match(await caption(), / 1 of 10 series is hidden; its button shows it\.$/);
  await buttons.nth(8).click();
  assert.doesNotMatch(await caption(), /hidden/);
  await buttons.first().click();
  assert.match(await caption(), / 1 of 10 series is hidden/);
  assert.deepEqual(page.problems, []);
});

test("lines that were hidden are shown where they are few", async () => {
  const strategies = Array.from({ length: 10 }, (_, index) => `strategy-${index}`);
  const cases = strategies.flatMap((name, index) =>
    [1, 2].flatMap((n) => (index < 6 ? [8] : [8, 16]).map((batch) => measured(name, { n, batch }, n * (index + 1)))),
  );
  const page = await browser.open(report(cases));
  await texts(page);
  await press(page, "lines");
  const buttons = page.getByRole("group", { name: "Series" }).first().getByRole("button");
  const last = buttons.filter({ hasText: "strategy-9" });
  await eventually(page, async () => (await last.first().getAttribute("aria-pressed")) === "false");
  await page.locator(".axes label:visible select").selectOption("16");
  await eventually(page, async () => (await buttons.count()) === 4);
  assert.equal(await last.getAttribute("aria-pressed"), "true");
  assert.doesNotMatch(await page.locator(".pictures > figure figcaption").textContent(), /hidden/);
  assert.deepEqual(page.problems, []);
});

test("of few samples none lie beyond the scale, and they have no box", async () => {
  const cases = ["a", "b", "c", "d"].map((name) => {
    const one = measured(name, {}, 1, { samples: 3 });
    const spread = name === "a" ? 0.1 : 0.001;
    [1 - spread, 1, 1 + spread].forEach((seconds, index) => (one.samples[index].seconds = seconds));
    return one;
  });
  const page = await browser.open(report(cases));
  const section = page.locator("details.distributions");
  await section.locator("summary").click();
  await section.locator("svg text").first().waitFor();
  assert.doesNotMatch(await section.locator("[role=img]").getAttribute("aria-label"), /beyond/);
  assert.equal(await section.locator("svg path[fill-opacity='0.15']").count(), 0);
  assert.deepEqual(page.problems, []);
});

test("the distribution of samples has a line for each case", async () => {
  const one = measured("a", {}, 1, { samples: 40 });
  one.samples[3].seconds = 30;
  const page = await browser.open(report([one, measured("b", {}, 2)]));
  const section = page.locator("details.distributions");
  await section.locator("summary").click();
  await section.locator("svg text").first().waitFor();
  const shown = await section.locator("svg text").allTextContents();
  assert.ok(shown.includes("a") && shown.includes("b"), `${shown}`);
  assert.match(await section.locator("[role=img]").getAttribute("aria-label"), /a box holds the middle half.* 1 of 48 samples lie/);
  assert.equal(await section.locator("svg path[fill-opacity='0.15']").count(), 2, "boxes");
  const points = await section.locator("svg path").evaluateAll((paths) =>
    paths.map((path) => path.getBoundingClientRect()).filter(({ width, height }) => width > 3 && width < 20 && height > 3 && height < 20),
  );
  assert.ok(points.length >= 48, `${points.length}`);
  const arrow = points.reduce((a, b) => (b.x > a.x ? b : a));
  await page.mouse.move(arrow.x + arrow.width / 2, arrow.y + arrow.height / 2);
  await page.locator("dl.hover").waitFor();
  assert.match(await page.locator("dl.hover").textContent(), /round3deviation2900\.00%/);
  assert.deepEqual(page.problems, []);
});
