// Draws changes of the times of cases against a baseline: a line for each case, with a point and an
// interval for every series. The data is written by reports/views/html/html_changes.cpp.
import { type Drawing, type Entry, axisStyle, baseOption, nameAxis, seriesStyle } from "./drawing";
import type { CustomSeriesOption, CustomSeriesRenderItem, MarkLineComponentOption } from "./echarts";
import { Figure } from "./figure";
import { short } from "./measures";
import { type Range, holds, percentAxis, rangeOf } from "./samples";
import { CaseTable } from "./table";
import { type Colours, colours } from "./theme";
import { max_series } from "./views";

/** The row in the table of cases, the change as a fraction, and the ends of its interval. */
type ChangePoint = [number, number | null, (number | null)?, (number | null)?];

interface Changes {
  description: string;
  /** Names of the rows of the table. */
  cases: string[];
  series: { name: string; points: ChangePoint[] }[];
  /** Min change that counts, as a fraction. */
  threshold?: number;
}

interface ChangeMark {
  /** Index of the line, from the top of the picture. */
  line: number;
  row: number;
  /** Change in percent. */
  value: number;
  low: number;
  high: number;
  has_interval: boolean;
}

interface Series {
  name: string;
  marks: ChangeMark[];
  colour: string;
  /** Pixels below the middle of a line. */
  offset: number;
}

const max_lines = 40;
const line_height = 26;
const height_of_a_series = 12;

/** Draws the changes of a page, if it has any, and makes their table interactive. */
export function addChanges(): void {
  const data = document.getElementById("parbench-changes");
  const section = data?.closest("section");
  const table = section?.querySelector<HTMLTableElement>("table.cases");
  const pictures = section?.querySelector<HTMLElement>(".pictures");
  if (!data || !table || !pictures) return;
  const changes = JSON.parse(data.textContent ?? "") as Changes;
  table.id ||= "changes-table";
  const cases = new CaseTable(table, { things: "cases", own_filter: true, plain_columns: 0 });
  pictures.append(new Figure(() => drawChanges(changes, colours()), cases, table.id).root);
}

function drawChanges(changes: Changes, colours: Colours): Drawing {
  const rows = [...new Set(changes.series.flatMap(({ points }) => points.map(([row]) => row)))].sort((a, b) => a - b);
  const shown = rows.slice(0, max_lines);
  const series = seriesOf(changes, shown, colours);
  const all = series.flatMap(({ marks }) => marks);
  const range = rangeOf([0, ...all.flatMap(({ value, low, high }) => [value, low, high].filter(Number.isFinite))]);
  const beyond = all.filter(({ value }) => !holds(range, value)).length;
  return {
    option: {
      ...baseOption(colours),
      xAxis: {
        ...percentAxis("faster ←  change of the time  → slower", range, colours),
        nameLocation: "middle",
        nameGap: 28,
        axisLabel: { ...axisStyle(colours).axisLabel, formatter: percentText },
      },
      yAxis: nameAxis(shown.map((row) => changes.cases[row] ?? ""), colours),
      series: [
        ...series.map((one) => intervalSeries(one, range)),
        // The lines of levels are a separate series, which stays visible when others are hidden.
        { type: "scatter" as const, markLine: levels(changes, colours) },
      ],
    },
    entries: series.map(({ name, colour }): Entry => ({ name, colour, symbol: "●" })),
    limit: max_series,
    height: 80 + Math.max(line_height, lanesOf(changes) * height_of_a_series + 8) * Math.max(1, shown.length),
    description: describe(changes, rows.length, shown.length, beyond),
  };
}

function describe({ description, threshold, cases }: Changes, known: number, shown: number, beyond: number): string {
  const without = cases.length - known;
  return (
    description +
    (threshold ? ` Dashed lines are the threshold of ${short(100 * threshold)}%.` : "") +
    (shown < known ? ` The first ${shown} of ${known} cases.` : "") +
    (without > 0 ? ` ${without === 1 ? "1 case has" : `${without} cases have`} no change to show.` : "") +
    (beyond > 0 ? ` An arrow at the edge stands for each of ${beyond} beyond the scale.` : "")
  );
}

/** Returns the number of marks per line: one per series if several series have a point on a line. */
function lanesOf({ series }: Changes): number {
  const counts = new Map<number, number>();
  for (const { points } of series) for (const [row] of points) counts.set(row, (counts.get(row) ?? 0) + 1);
  return Math.max(1, ...counts.values()) > 1 ? series.length : 1;
}

function seriesOf(changes: Changes, shown: number[], colours: Colours): Series[] {
  const lines = new Map(shown.map((row, line) => [row, line]));
  const lanes = lanesOf(changes);
  return changes.series
    .map(({ name, points }, index) => ({
      name,
      marks: points.flatMap((point) => markOf(point, lines)),
      colour: seriesStyle(index, colours).colour,
      offset: lanes > 1 ? (index - (lanes - 1) / 2) * height_of_a_series : 0,
    }))
    .filter(({ marks }) => marks.length > 0);
}

/** Returns the mark of a point; an end of an interval that is not finite is infinitely far away. */
function markOf([row, value, low, high]: ChangePoint, lines: Map<number, number>): ChangeMark[] {
  const line = lines.get(row);
  if (line === undefined || value === null) return [];
  const has_interval = low !== undefined;
  return [
    {
      line,
      row,
      value: 100 * value,
      low: 100 * (has_interval ? low ?? -1 : value),
      high: 100 * (has_interval ? high ?? Infinity : value),
      has_interval,
    },
  ];
}

function percentText(percent: number): string {
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${short(Math.abs(percent))}%`;
}

/** Returns lines at zero change and at the threshold on both sides. */
function levels({ threshold }: Changes, colours: Colours): MarkLineComponentOption {
  const dashed = { color: colours.soft, type: "dashed" as const, width: 1 };
  const ends = threshold ? [-100 * threshold, 100 * threshold] : [];
  return {
    silent: true,
    symbol: "none",
    animation: false,
    label: { show: false },
    data: [
      { xAxis: 0, lineStyle: { color: colours.ink, type: "solid" as const, width: 1 } },
      ...ends.map((xAxis) => ({ xAxis, lineStyle: dashed })),
    ],
  };
}

/** Returns whiskers with points; an arrow at the edge replaces a point beyond it. */
function intervalSeries({ name, marks, colour, offset }: Series, range: Range): CustomSeriesOption {
  const within = (percent: number) => Math.min(range.high, Math.max(range.low, percent));
  const renderItem: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const mark = marks[dataIndex]!;
    const [x, middle] = api.coord([within(mark.value), mark.line]) as [number, number];
    const [left] = api.coord([within(mark.low), mark.line]) as [number];
    const [right] = api.coord([within(mark.high), mark.line]) as [number];
    const y = middle + offset;
    const stroke = { stroke: colour, lineWidth: 1.5 };
    const line = (x1: number, y1: number, x2: number, y2: number) => ({ type: "line" as const, shape: { x1, y1, x2, y2 }, style: stroke });
    const cap = (at: number, percent: number) => (mark.has_interval && holds(range, percent) ? [line(at, y - 4, at, y + 4)] : []);
    return {
      type: "group",
      children: [
        // Larger than the marks, so that the pointer hits it easily.
        { type: "rect", shape: { x: left - 6, y: y - 6, width: right - left + 12, height: 12 }, style: { fill: "transparent" } },
        line(left, y, right, y),
        ...cap(left, mark.low),
        ...cap(right, mark.high),
        holds(range, mark.value)
          ? { type: "circle", shape: { cx: x, cy: y, r: 4 }, style: { fill: colour } }
          : { type: "polygon", shape: { points: arrow(x, y, mark.value > range.high ? 1 : -1) }, style: { fill: colour } },
      ],
    };
  };
  const data = marks.map(({ value, line, row }) => ({ value: [within(value), line], row }));
  return { type: "custom", name, data, renderItem, encode: { x: 0, y: 1 }, z: 4 };
}

/** Returns an arrow with its tip at the edge. */
function arrow(x: number, y: number, direction: number): [number, number][] {
  return [[x, y], [x - 9 * direction, y - 5], [x - 9 * direction, y + 5]];
}
