// How long a browser takes to draw timelines of so many tasks in two cases, and how smoothly they zoom
// and move: scripts/page-speed.
import { Browser, eventually, profiled, measured, report, span } from "./report.mjs";

const count = Number(process.argv[2] ?? 20_000);
const frames = 100;

/** Four lanes, gaps of every size, names that repeat as those of layers do. */
function tasks(number) {
  return Array.from({ length: number }, (_, i) => {
    const begin = i + (i % 7) / 10;
    const options = { name: `layer ${i % 50}`, after: i > 3 ? [i - 4] : [] };
    return span(i, i % 4, begin, begin + 1 + ((i * 37) % 29) / 10, options);
  });
}

const single = profiled(measured("single", {}, 1), count / 2 + 4, tasks(count / 2));
const faster = measured("faster", {}, 0.5, { baseline: single.name, speedup: 2 });
const browser = await Browser.start();
const page = await browser.open(report([single, profiled(faster, count / 2 + 4, tasks(count / 2))]));
const canvas = page.locator(".when canvas");
await canvas.scrollIntoViewIfNeeded();
await eventually(page, async () => (await canvas.getAttribute("data-bars")) === String(count));
await canvas.focus();

/** Of each frame: milliseconds spent drawing, and since the frame before. */
const measure = (keys) =>
  canvas.evaluate(
    async (one, [pressed, number]) => {
      const next = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const draws = [];
      const gaps = [];
      let last = await next();
      for (let i = 0; i < number; ++i) {
        let begin;
        // Callbacks of a frame run in the order in which they were asked for: drawing is between these.
        const before = new Promise((resolve) => requestAnimationFrame(() => resolve((begin = performance.now()))));
        one.dispatchEvent(new KeyboardEvent("keydown", { key: pressed[i % pressed.length] }));
        const now = await new Promise((resolve) => {
          requestAnimationFrame((time) => {
            draws.push(performance.now() - begin);
            resolve(time);
          });
        });
        await before;
        gaps.push(now - last);
        last = now;
      }
      return { draws, gaps };
    },
    [keys, frames],
  );

function print(what, { draws, gaps }) {
  const text = (list) => {
    const sorted = [...list].sort((a, b) => a - b);
    const [median, max] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
    return `${median.toFixed(1)} ms (at most ${max.toFixed(1)})`;
  };
  console.log(`${count} tasks, ${what}: drawn in ${text(draws)}, a frame every ${text(gaps)}`);
}

print("all in view", await measure(["0"]));
print("zooming in and out", await measure([..."+++++-----"]));
await canvas.evaluate((one) => one.dispatchEvent(new KeyboardEvent("keydown", { key: "+" })));
print("moving", await measure([...Array(5).fill("ArrowRight"), ...Array(5).fill("ArrowLeft")]));
await browser.stop();
