// Called by scripts/picture: takes a picture of the chart and the timelines of a page.
//   node picture.mjs PAGE.html OUT.png [CASE]
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page_path, picture_path, case_name] = process.argv.slice(2);

// Hides controls, which a picture does not need, and moves the timelines beside the chart.
const style = `
  .scenario > :not(.pictures, .answer), .pictures .tools, .pictures .samples, .pictures .distributions, .when .help, .when h3,
  .when .task { display: none !important; }
  .scenario { border: none !important; margin: 0 !important; padding: 12px !important;
    width: 1136px !important; max-width: none !important; box-shadow: none !important; }
  .pictures { display: grid !important; grid-template-columns: 430px 1fr; gap: 28px;
    align-items: start; margin: 0 !important; }
  .scenario > .answer { margin: 0 0 16px !important; max-width: none !important; }
  .pictures > figure .chart, .pictures > figure .chart > div { height: 300px !important; }
  .pictures > *, .pictures figure { margin: 0 !important; min-width: 0; }`;

const browser = await chromium.launch({
  executablePath: process.env.PARBENCH_CHROMIUM,
  args: ["--no-sandbox"],
});
try {
  const context = await browser.newContext({
    bypassCSP: true,
    colorScheme: "light",
    viewport: { width: 1160, height: 1400 },
  });
  const page = await context.newPage();
  await page.goto(pathToFileURL(resolve(page_path)).href);
  if (case_name) await page.locator(".when select").first().selectOption({ label: case_name });
  await page.addStyleTag({ content: style });
  const scenario = page.locator("section.scenario").first();
  await scenario.locator(".chart svg text").first().waitFor();
  await scenario.locator(".when canvas[data-bars]").waitFor();
  await page.waitForTimeout(1000); // until both are redrawn in their new widths
  await scenario.screenshot({ path: picture_path, animations: "disabled" });
} finally {
  await browser.close();
}
