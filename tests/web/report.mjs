// Reports for the tests, as the program reads them, and pages of them in a browser.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const hostile = `<script>window.hacked = true</script>"'&`;

const interval = (value, width = 0.02) => ({
  low: value * (1 - width),
  high: value * (1 + width),
  confidence: 0.95,
});

/** A measured case; `speedup` over a baseline by name, or nothing. */
export function measured(strategy, parameters, median, { baseline, speedup, samples = 8 } = {}) {
  const name = ["demo", strategy, ...Object.entries(parameters).map(([k, v]) => `${k}:${v}`)].join("/");
  const list = Array.from({ length: samples }, (_, round) => {
    const seconds = median * (1 + 0.002 * (round - samples / 2));
    return { seconds, wall_seconds: seconds, cpu_seconds: seconds, iterations: 1, round };
  });
  return {
    name,
    scenario: "demo",
    strategy,
    parameters,
    dtype: "f32",
    status: "measured",
    stopped_because: "precision",
    statistics: {
      median,
      median_interval: interval(median),
      mean: median,
      standard_deviation: 0.01 * median,
      median_absolute_deviation: 0.01 * median,
      min: 0.99 * median,
      max: 1.01 * median,
    },
    ...(baseline ? { speedup: { value: speedup, interval: interval(speedup), baseline } } : {}),
    bound: {
      seconds: 0.8 * median,
      critical_path: 0.5 * median,
      busiest_lane: 0.8 * median,
      busiest_lane_name: "cpu:0/compute",
      busiest_device: 0.8 * median,
      one_machine: 0.8 * median,
    },
    efficiency: 0.8,
    verification: { against: "demo/single", passed: true, largest_error: 0.01 },
    amount: 10,
    amount_unit: "images",
    throughput: 10 / median,
    samples: list,
  };
}

/**
 * A task in a timeline; tasks are counted from 0. `after`: tasks that it waits for. `step`: its phase and
 * micro-batch. Microseconds.
 */
export function span(task, lane, begin, end, { name = `task ${task}`, after = [], enqueued = begin, work = {}, step = {} } = {}) {
  return { task, name, lane, begin, end, enqueued, after, work, step };
}

function timelineOf(lanes, microseconds, spans) {
  const ns = (us) => Math.round(us * 1000);
  const kindOf = (lane) => (lane % 2 === 0 ? "compute" : "copy");
  const ordered = [...spans].sort((a, b) => a.task - b.task);
  return {
    graph: {
      submit: "one-thread",
      lanes: lanes.map((name, lane) => ({ name, device: name.slice(0, 5), kind: kindOf(lane), threads: 1 })),
      tasks: ordered.map(({ name, lane, after, step }) => ({ name, kind: kindOf(lane), lanes: [lane], ...(after.length > 0 ? { after } : {}), ...step })),
    },
    calls: spans.map(({ task, lane, begin, end, enqueued, work }) => ({
      task,
      lane,
      enqueued: { begin_ns: 0, end_ns: ns(enqueued) },
      ran: { begin_ns: ns(begin), end_ns: ns(end) },
      ...(Object.keys(work).length > 0 ? { work } : {}),
    })),
    begin_ns: 0,
    end_ns: ns(microseconds),
    clock_error_ns: 0,
  };
}

/** The case, profiled: two devices with a lane for computing and one for copies each. */
export function profiled(c, microseconds, tasks) {
  const waits = { dependency: 0, host: 0, queue: 0 };
  const seconds = microseconds * 1e-6;
  const device = (name) => ({
    device: name,
    busy: 0.6 * seconds,
    idle: 0.4 * seconds,
    bubble: 0.3 * seconds,
    waits,
    compute: 0.6 * seconds,
    copy: 0,
    communication: 0,
    exposed_copy: 0,
    exposed_communication: 0,
    overlapped: 0,
  });
  const lanes = ["cpu:0/compute", "cpu:0/copy", "cpu:1/compute", "cpu:1/copy"];
  const profile = {
    executions: 25,
    median: seconds,
    seconds_per_call: 5e-8,
    metrics: {
      span: seconds,
      clock_error: 0,
      devices: [device("cpu:0"), device("cpu:1")],
      bubble_ratio: { of_total: 0.3, of_busy: 0.5 },
      streams_busy: [0, seconds],
      lanes: lanes.map((name) => ({ name, device: name.slice(0, 5), waits })),
      critical_path: { compute: seconds, copy: 0, communication: 0, host: 0, queue: 0 },
      calls: [],
    },
    ...(tasks.length > 0 ? { timeline: timelineOf(lanes, microseconds, tasks) } : {}),
  };
  return { ...c, profile };
}

/** A pipeline of two stages and a baseline, which takes twice as long. */
export function pipeline() {
  const single = profiled(measured("single", {}, 200e-6), 200, [span(0, 0, 0, 100), span(1, 0, 100, 200, { after: [0] })]);
  const stages = profiled(measured("pipeline", { split: 2 }, 100e-6, { baseline: single.name, speedup: 2 }), 100, [
    span(0, 0, 0, 30, { name: "forward, micro-batch 0" }),
    span(1, 1, 30, 35, { name: "send, micro-batch 0", after: [0] }),
    span(2, 0, 30, 60, { name: "forward, micro-batch 1" }),
    span(3, 2, 35, 65, { name: "stage 1, micro-batch 0", after: [1], work: { flops: 3e6, bytes: 6e5 } }),
    span(4, 2, 70, 100, { name: "stage 1, micro-batch 1", after: [2, 3] }),
  ]);
  const peaks = [{ what: "gemm f32", value: 2e11, unit: "FLOP/s", measured_utc: "2024-05-04T10:00:00Z" }];
  const devices = [{ scenario: "demo", name: "cpu:1", backend: "cpu", model: "A processor", cores: [1], copy_cores: [], memory_bytes: 1e10, peaks }];
  return report([single, stages], { devices });
}

export function failed(strategy, parameters, error, status = "failed") {
  const name = ["demo", strategy, ...Object.entries(parameters).map(([k, v]) => `${k}:${v}`)].join("/");
  return { name, scenario: "demo", strategy, parameters, dtype: "f32", status, error };
}

export function report(cases, changes = {}) {
  return {
    context: {
      date: "2024-05-04T10:20:30+00:00",
      host_name: "bench-1",
      executable: "parbench",
      num_cpus: 2,
      caches: [],
      library_build_type: "release",
    },
    benchmarks: [],
    parbench: {
      schema_version: 2,
      version: "0.1.0",
      started_utc: "2024-05-04T10:20:30Z",
      duration_seconds: 12,
      sampling_seconds: 10,
      task_cost_seconds: 1,
      complete: cases.every((c) => c.status === "measured"),
      command_line: ["parbench", "--scenario", "demo"],
      options: {},
      sampling: [],
      machine: {
        host: "bench-1",
        cpu_model: "A processor",
        cores_online: 2,
        cores_allowed: [0, 1],
        memory_bytes: 1e10,
        operating_system: "Debian",
        kernel: "6.1",
        compiler: "GCC",
        build_type: "Release",
        libraries: { oneDNN: "2.6" },
      },
      devices: [],
      cases,
      answers: [{ scenario: "demo", question: "Which is fastest?", text: "The split one." }],
      ...changes,
    },
  };
}

/** One strategy without the axis, one with five values of it: what a pipeline's sweep looks like. */
export function sweep() {
  const baseline = measured("single", {}, 1);
  const splits = [
    [1, 0.9],
    [3, 0.6],
    [5, 0.5],
    [12, 0.7],
    [20, 0.8],
  ];
  return report([
    baseline,
    ...splits.map(([split, median]) =>
      measured("pipeline", { split }, median, { baseline: baseline.name, speedup: 1 / median }),
    ),
  ]);
}

/** Two axes that both strategies have. */
export function grid() {
  const cases = [];
  for (const batch of [1, 8]) {
    for (const image of [8, 32, 128]) {
      const base = measured("one-stream", { batch, image }, 1e-5 * batch * image);
      const gain = 1 + 8 / image;
      cases.push(base);
      cases.push(
        measured("streams", { batch, image }, base.statistics.median / gain, {
          baseline: base.name,
          speedup: gain,
        }),
      );
    }
  }
  return report(cases);
}

/** Three axes of one strategy beside a baseline: more than any picture shows. */
export function cube() {
  const base = measured("single", {}, 1);
  const cases = [base];
  for (const batch of [1, 4, 8]) {
    for (const image of [8, 32, 128]) {
      for (const streams of [1, 2, 4]) {
        const speedup = 1 + streams / image + batch / 100;
        cases.push(measured("streams", { batch, image, streams }, 1 / speedup, { baseline: base.name, speedup }));
      }
    }
  }
  return report(cases);
}

/** Waits for what the page draws with its next frames. */
export async function eventually(page, check) {
  for (let left = 100; !(await check()); --left) {
    if (left === 0) throw new Error(`never became true: ${check}`);
    await page.waitForTimeout(50);
  }
}

/** The middle of a bar's left end, to point at. */
export async function placeOfABar(page) {
  return page.locator(".pictures svg path").evaluateAll((paths) => {
    const boxes = paths.map((path) => path.getBoundingClientRect());
    const bar = boxes.find(({ width, height }) => width > 100 && height > 8 && height < 20);
    return { x: bar.x + 20, y: bar.y + bar.height / 2 };
  });
}

/** A browser with a folder for pages; `open` fails the test on any error of the page. */
export class Browser {
  static async start() {
    const browser = new Browser();
    browser.folder = mkdtempSync(join(tmpdir(), "parbench-web-"));
    browser.chromium = await chromium.launch({
      executablePath: process.env.PARBENCH_CHROMIUM,
      args: ["--no-sandbox"],
    });
    return browser;
  }

  /** `stop` validates all of them but damaged ones. */
  writeReports(reports, { damaged = false } = {}) {
    const folder = mkdtempSync(join(this.folder, damaged ? "damaged-" : "reports-"));
    return reports.map((content, i) => {
      const file = join(folder, `report-${i}.json`);
      writeFileSync(file, JSON.stringify(content));
      return file;
    });
  }

  /** Throws unless all written reports pass the schema by an independent validator. */
  validateReports() {
    const files = readdirSync(this.folder, { recursive: true }).filter((file) => /^reports-.*\.json$/.test(file));
    const source = process.env.PARBENCH_SOURCE;
    const lines = execFileSync(
      process.env.PARBENCH_PYTHON,
      [join(source, "tests/reports/io/validate.py"), join(source, "reports/schema/report-v2.schema.json"), ...files],
      { cwd: this.folder, encoding: "utf8" },
    );
    const invalid = lines.split("\n").filter((line) => line !== "valid" && line !== "");
    if (invalid.length > 0) throw new Error(invalid.join("\n"));
  }

  /** The file of a page of reports. */
  write(...reports) {
    return this.pageOf(this.writeReports(reports));
  }

  pageOf(files) {
    const page = join(this.folder, "page.html");
    execFileSync(process.env.PARBENCH_BINARY, ["html", ...files, "-o", page]);
    return page;
  }

  /** The page of a comparison of two reports, whatever their verdict. */
  openComparison(before, after, options = {}) {
    const page = join(this.folder, "comparison.html");
    const { status, stderr } = spawnSync(process.env.PARBENCH_BINARY, [
      "compare",
      ...this.writeReports([before, after]),
      "--format=html",
      "-o",
      page,
    ]);
    if (![0, 1, 3].includes(status)) throw new Error(`compare: ${status} ${stderr}`);
    return this.openAddress(`file://${page}`, options);
  }

  /** The page of a report that breaks the schema. */
  openDamaged(report) {
    return this.openAddress(`file://${this.pageOf(this.writeReports([report], { damaged: true }))}`);
  }

  open(reports, options = {}) {
    return this.openAddress(`file://${this.write(...[reports].flat())}`, options);
  }

  /** `allowed`: where requests may go beside the disk. */
  async openAddress(address, options = {}, allowed = "file:") {
    const page = await this.chromium.newPage({ viewport: { width: 1200, height: 900 }, ...options });
    page.problems = [];
    page.on("console", (message) => page.problems.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => page.problems.push(String(error)));
    page.on("request", (request) => {
      const url = request.url();
      if (!/^(file|data):/.test(url) && !url.startsWith(allowed)) page.problems.push(`network: ${url}`);
    });
    await page.goto(address);
    return page;
  }

  async stop() {
    await this.chromium.close();
    this.validateReports();
    rmSync(this.folder, { recursive: true });
  }
}
