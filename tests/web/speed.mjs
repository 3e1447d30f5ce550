// How long a browser takes to open a page of so many cases, and how large it is: scripts/page-speed.
import { statSync } from "node:fs";
import { Browser, measured, report } from "./report.mjs";

const count = Number(process.argv[2] ?? 10_000);
const repeats = 5;

const cases = Array.from({ length: count }, (_, i) => {
  const parameters = { batch: 1 + (Math.floor(i / 4) % 50), image: 8 * (1 + Math.floor(i / 200)) };
  const strategy = ["single", "streams", "threads", "merged"][i % 4];
  const baseline = `demo/single/batch:${parameters.batch}/image:${parameters.image}`;
  const speedup = strategy === "single" ? {} : { baseline, speedup: 1.5 };
  return measured(strategy, parameters, 1e-3 * (1 + (i % 977)), speedup);
});

const browser = await Browser.start();
const times = [];
let size = 0;
for (let i = 0; i < repeats; ++i) {
  const file = browser.write(report(cases));
  size = statSync(file).size;
  const page = await browser.chromium.newPage({ viewport: { width: 1300, height: 900 } });
  const begin = performance.now();
  await page.goto(`file://${file}`);
  await page.locator(".pictures svg text").first().waitFor();
  times.push((performance.now() - begin) / 1000);
  await page.close();
}
await browser.stop();
times.sort((a, b) => a - b);
const shown = times.map((time) => `${time.toFixed(2)} s`).join(", ");
console.log(`${count} cases, ${(size / 1e6).toFixed(2)} MB: open with their picture in ${shown}`);
