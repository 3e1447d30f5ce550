// When tasks ran: drawn, zoomed, moved, marked, compared.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, eventually, hostile, profiled, measured, pipeline, report, span, sweep } from "./report.mjs";

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

const canvas = (page) => page.locator(".when canvas");
const data = (page) => canvas(page).evaluate((one) => ({ ...one.dataset }));
const button = (page, name) => page.locator(".when").getByRole("button", { name, exact: true });
const chooser = (page, label) => page.locator(".when label", { hasText: new RegExp(`^${label}`) }).locator("select");
const marked = (page) => page.locator(".when .task");
const shares = (page) => page.locator(".when .shares li").allTextContents();

async function open(content, options) {
  const page = await browser.open(content, options);
  await canvas(page).scrollIntoViewIfNeeded();
  await eventually(page, async () => (await data(page)).bars !== undefined);
  return page;
}

async function window(page) {
  const { from, to } = await data(page);
  return [Math.round(from * 1e9), Math.round(to * 1e9)];
}

/** How many pixels of the picture have a colour, "#rrggbb". */
function pixels(page, colour) {
  return canvas(page).evaluate((one, wanted) => {
    // Reading a copy leaves the canvas as fast as it is.
    const copy = new OffscreenCanvas(one.width, one.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(one, 0, 0);
    const { data: bytes } = copy.getImageData(0, 0, one.width, one.height);
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(wanted.slice(at, at + 2), 16));
    let count = 0;
    for (let i = 0; i < bytes.length; i += 4) count += bytes[i] === r && bytes[i + 1] === g && bytes[i + 2] === b;
    return count;
  }, colour);
}

/** The middle of a bar, found by what pointing there says: the page has no elements for bars. */
async function placeOf(page, name) {
  const box = await canvas(page).boundingBox();
  for (let y = 30; y < box.height; y += 8) {
    for (let x = 4; x < box.width; x += 24) {
      await page.mouse.move(box.x + x, box.y + y);
      const tip = page.locator(".tip:visible dd").first();
      if ((await tip.count()) > 0 && (await tip.textContent()) === name) return { x: box.x + x, y: box.y + y };
    }
  }
  throw new Error(`no bar ${name}`);
}

test("the fastest case stands above its baseline on one axis", async () => {
  const page = await open(pipeline());
  assert.deepEqual(await window(page), [0, 200_000]);
  assert.equal((await data(page)).bars, "7");
  assert.equal(await chooser(page, "Case").inputValue(), "pipeline");
  assert.equal(await chooser(page, "compared with").inputValue(), "its baseline");
  assert.equal(await canvas(page).getAttribute("aria-label"), "When the tasks of pipeline and single ran");
  assert.deepEqual(await shares(page), [
    "pipeline: cpu:0 busy 60.0%, idle 40.0% (30.0% between tasks); cpu:1 busy 60.0%, idle 40.0% (30.0% between tasks).",
    "single: cpu:0 busy 60.0%, idle 40.0% (30.0% between tasks); cpu:1 busy 60.0%, idle 40.0% (30.0% between tasks).",
  ]);
  assert.deepEqual(page.problems, []);
});

test("bars are as long as their tasks took, and coloured by kind", async () => {
  const page = await open(pipeline());
  const compute = await pixels(page, "#0072b2");
  const copy = await pixels(page, "#d55e00");
  // 320 µs of computing and 5 of copying; names on bars, frames and rounded edges take some.
  assert.ok(compute / copy > 0.75 * 64 && compute / copy < 1.25 * 64, `${compute} / ${copy}`);
  assert.deepEqual(page.problems, []);
});

/** GPipe with two micro-batches on two stages. */
function gpipe() {
  const step = (phase, micro_batch) => ({ step: { phase, micro_batch } });
  const tasks = [
    span(0, 0, 0, 20, { name: "forward, micro-batch 0, stage 0", ...step("forward", 0) }),
    span(1, 0, 20, 40, { name: "forward, micro-batch 1, stage 0", ...step("forward", 1) }),
    span(2, 2, 20, 40, { name: "forward, micro-batch 0, stage 1", ...step("forward", 0) }),
    span(3, 2, 40, 60, { name: "backward, micro-batch 0, stage 1", ...step("backward", 0) }),
    span(4, 1, 60, 62, { name: "send gradients", step: { micro_batch: 0 } }),
    span(5, 0, 62, 90, { name: "backward, micro-batch 0, stage 0", ...step("backward", 0) }),
    span(6, 0, 90, 100, { name: "update, stage 0", step: { phase: "update" } }),
  ];
  return report([profiled(measured("pipeline", { split: 2 }, 100e-6), 100, tasks)]);
}

test("a pipeline has the colours of its phases, and its fill and drain are hatched", async () => {
  const page = await open(gpipe());
  const legend = await page.locator(".when .kinds li").allTextContents();
  assert.deepEqual(legend, [
    "copy",
    "forward",
    "backward",
    "update",
    "idle between tasks",
    "idle before the first and after the last task (fill and drain)",
  ]);
  const [forward, backward, update] = [await pixels(page, "#56b4e9"), await pixels(page, "#5b3a8e"), await pixels(page, "#8a6d00")];
  // 60, 48 and 10 µs; names on bars and frames take some.
  assert.ok(forward > 3 * update && backward > 2 * update && update > 100, `${forward} ${backward} ${update}`);
  assert.equal(await pixels(page, "#0072b2"), 0, "nothing computes without a phase");
  assert.deepEqual(page.problems, []);
});

test("other cases can be chosen, or one alone", async () => {
  const page = await open(pipeline());
  await chooser(page, "compared with").selectOption("nothing");
  await eventually(page, async () => String(await window(page)) === "0,100000");
  assert.equal((await data(page)).bars, "5");
  await chooser(page, "Case").selectOption("single");
  await eventually(page, async () => String(await window(page)) === "0,200000");
  assert.equal((await shares(page)).length, 1);
  await chooser(page, "compared with").selectOption("pipeline");
  await eventually(page, async () => (await data(page)).bars === "7");
});

test("wheel, buttons and keys zoom; drags and arrows move", async () => {
  const page = await open(pipeline());
  await button(page, "Zoom in").click();
  await eventually(page, async () => (await window(page))[1] < 200_000);
  const [from, to] = await window(page);
  assert.ok(Math.abs(from + to - 200_000) <= 2, "around the middle");
  assert.ok(Number((await data(page)).bars) <= 7);

  await canvas(page).focus();
  await page.keyboard.press("ArrowRight");
  await eventually(page, async () => (await window(page))[0] > from);
  const moved = await window(page);
  assert.ok(Math.abs(moved[1] - moved[0] - (to - from)) <= 2, "as long as before");
  await page.keyboard.press("+");
  await eventually(page, async () => (await window(page))[1] < moved[1]);
  await page.keyboard.press("0");
  await eventually(page, async () => String(await window(page)) === "0,200000");

  const box = await canvas(page).boundingBox();
  const [x, y] = [box.x + 0.8 * box.width, box.y + 60];
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -200);
  await eventually(page, async () => (await window(page))[0] > 0);
  const zoomed = await window(page);
  assert.ok((zoomed[0] + zoomed[1]) / 2 > 110_000, "around the pointer");
  await page.mouse.down();
  await page.mouse.move(x + 100, y, { steps: 4 });
  await page.mouse.up();
  await eventually(page, async () => (await window(page))[0] < zoomed[0]);
  assert.equal((await data(page)).marked, "", "a drag marks nothing");
  await button(page, "Show all").click();
  await eventually(page, async () => String(await window(page)) === "0,200000");
  assert.deepEqual(page.problems, []);
});

test("the wheel scrolls the page until the picture was clicked", async () => {
  const page = await open(pipeline(), { viewport: { width: 1200, height: 400 } });
  const box = await canvas(page).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const before = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, -100);
  await eventually(page, async () => (await page.evaluate(() => scrollY)) < before);
  assert.deepEqual(await window(page), [0, 200_000]);
});

test("pointing at a bar says what it is and what held it back", async () => {
  const page = await open(pipeline());
  await placeOf(page, "stage 1, micro-batch 0");
  assert.equal(
    await page.locator(".tip").innerText(),
    [
      "task", "stage 1, micro-batch 0", "kind", "compute on cpu:1/compute", "begins", "at 35 µs", "takes", "30 µs",
      "computes", "at 100 GFLOP/s, 50% of the device's peak", "moves", "at 20 GB/s",
      "waits for", "send, micro-batch 0", "waited last for", "“send, micro-batch 0”, which ended at 35 µs",
    ].join("\n"),
  );
  await page.mouse.move(0, 0);
  await page.locator(".tip").waitFor({ state: "hidden" });
});

test("a click marks a task and leads to what it waits for", async () => {
  const page = await open(pipeline());
  const unmarked = await pixels(page, "#0072b2");
  const { x, y } = await placeOf(page, "forward, micro-batch 0");
  await page.mouse.click(x, y);
  await eventually(page, async () => (await data(page)).marked === "forward, micro-batch 0");
  assert.match(await marked(page).textContent(), /Needed bysend, micro-batch 0$/);
  await eventually(page, async () => (await pixels(page, "#0072b2")) < unmarked); // others fade
  await marked(page).getByRole("button", { name: "send, micro-batch 0" }).click();
  await eventually(page, async () => (await data(page)).marked === "send, micro-batch 0");
  assert.match(await marked(page).textContent(), /Waits forforward, micro-batch 0Needed bystage 1, micro-batch 0$/);
  await page.keyboard.press("Escape");
  await eventually(page, async () => (await data(page)).marked === "");
  assert.equal(await marked(page).textContent(), "");
  assert.deepEqual(page.problems, []);
});

test("keys lead from task to task", async () => {
  const page = await open(pipeline());
  await canvas(page).focus();
  const press = async (key, name) => {
    await page.keyboard.press(key);
    await eventually(page, async () => (await data(page)).marked === name);
    assert.ok((await marked(page).textContent()).includes(name));
  };
  await press("Enter", "forward, micro-batch 0");
  await press("ArrowRight", "forward, micro-batch 1");
  await press("ArrowDown", "send, micro-batch 0");
  await press("ArrowDown", "stage 1, micro-batch 0");
  await press("ArrowRight", "stage 1, micro-batch 1");
  await press("ArrowUp", "send, micro-batch 0");
  await press("ArrowUp", "forward, micro-batch 1"); // runs while the copy does
  await press("Enter", "task 0"); // of the other case
  assert.deepEqual(page.problems, []);
});

test("a marked task that is out of sight comes into sight", async () => {
  const page = await open(pipeline());
  await canvas(page).focus();
  await page.keyboard.press("Enter");
  for (let i = 0; i < 5; ++i) await page.keyboard.press("+");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight"); // stage 1, micro-batch 1 begins at 70 µs
  await eventually(page, async () => {
    const [from, to] = await window(page);
    return from <= 70_000 && to >= 70_000 && to - from < 30_000;
  });
});

test("an idle device is shaded between its first and last task", async () => {
  // Both cases differ in the gap alone, and so do their pictures.
  const ink = async (gap) => {
    const tasks = [span(0, 0, 0, 40), span(1, 0, gap ? 60 : 40, 100)];
    const page = await open(report([profiled(measured("a", {}, 1), 100, tasks)]));
    const card = await pixels(page, "#ffffff");
    const bars = await pixels(page, "#0072b2");
    return { card, bars };
  };
  const [whole, gapped] = [await ink(false), await ink(true)];
  const freed = whole.bars - gapped.bars;
  assert.ok(freed > 1000);
  // An empty gap would leave the card's colour; lines of the shading cover some of it.
  assert.ok(gapped.card - whole.card < 0.95 * freed, `${gapped.card - whole.card} of ${freed}`);
});

test("colours follow the switch, and paper is light", async () => {
  const page = await open(pipeline(), { colorScheme: "dark" });
  assert.ok((await pixels(page, "#56b4e9")) > 1000);
  assert.equal(await pixels(page, "#0072b2"), 0);
  await page.getByRole("button", { name: "light", exact: true }).click();
  await eventually(page, async () => (await pixels(page, "#0072b2")) > 1000);
  await page.getByRole("button", { name: "dark", exact: true }).click();
  await eventually(page, async () => (await pixels(page, "#56b4e9")) > 1000);
  await page.emulateMedia({ media: "print" });
  await eventually(page, async () => (await pixels(page, "#0072b2")) > 1000);
  assert.ok(!(await page.locator(".when .help").isVisible()));
  assert.deepEqual(page.problems, []);
});

test("hostile names stay text", async () => {
  const tasks = [span(0, 0, 0, 50, { name: hostile }), span(1, 0, 50, 100, { name: hostile, after: [0] })];
  const one = profiled(measured(hostile, {}, 1), 100, tasks);
  const { metrics, timeline } = one.profile;
  timeline.graph.lanes[0].name = metrics.lanes[0].name = metrics.devices[0].device = hostile;
  const page = await open(report([one]));
  await placeOf(page, hostile);
  await canvas(page).focus();
  await page.keyboard.press("Enter");
  await eventually(page, async () => (await data(page)).marked === hostile);
  assert.ok((await marked(page).textContent()).includes("<script>"));
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  assert.deepEqual(page.problems, []);
});

test("cases without a timeline are named with the reason", async () => {
  const content = pipeline();
  content.parbench.cases.push(measured("blind", {}, 1), profiled(measured("huge", {}, 1), 100, []));
  const page = await open(content);
  assert.equal(
    await page.locator(".when .without").textContent(),
    "Without a timeline: blind (it was not profiled). huge (its plan has more than 2000 tasks).",
  );
  assert.equal(await chooser(page, "Case").locator("option").count(), 2);
});

test("a report without profiles has no such section", async () => {
  const page = await browser.open(sweep());
  await page.locator(".pictures svg text").first().waitFor();
  assert.equal(await page.locator(".when").count(), 0);
});

test("on a narrow screen it fits", async () => {
  const page = await open(pipeline(), { viewport: { width: 360, height: 700 } });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.equal((await data(page)).bars, "7");
});
