// Draws two axes, with a cell for each pair of values, coloured by a measure of its best case.
import { type Case, axisValues, groupBy, strategiesOf } from "./data";
import { type Drawing, type Request, axisStyle, baseOption } from "./drawing";
import { type Measure, best, extremeText } from "./measures";

const cell_height = 44;

export function drawHeatMap(request: Request): Drawing {
  const { scenario, axes, measure, colours, strategy } = request;
  const [across, down] = axes as [number, number];
  const cases = scenario.cases.filter((c) => strategy === "" || c.strategy === strategy);
  const columns = axisValues(cases, across);
  const rows = axisValues(cases, down);
  const cells = bestPerCell(cases, across, down, columns, rows, request);
  const named = strategiesOf(cases).length > 1;
  const axis = (name: string, values: (number | string)[]) => ({
    ...axisStyle(colours),
    type: "category" as const,
    name,
    nameLocation: "middle" as const,
    data: values.map(String),
    splitLine: { show: false },
  });
  return {
    option: {
      ...baseOption(colours),
      xAxis: { ...axis(scenario.axes[across]!, columns), nameGap: 28 },
      yAxis: { ...axis(scenario.axes[down]!, rows), nameGap: 40 },
      visualMap: colourScale(request, cells.map((cell) => cell.colour)),
      series: [
        {
          type: "heatmap",
          data: cells.map(({ x, y, colour, c }) => ({ value: [x, y, colour], row: c.row })),
          label: {
            show: columns.length <= 16,
            color: colours.ink,
            lineHeight: 16,
            formatter: (cell: { dataIndex: number }) => label(cells[cell.dataIndex]!.c, measure, named),
          },
          itemStyle: { borderColor: colours.card, borderWidth: 2 },
          emphasis: { itemStyle: { borderColor: colours.ink } },
        },
      ],
    },
    entries: [],
    height: 90 + cell_height * Math.max(rows.length, 2),
    description:
      `${measure.title} by ${scenario.axes[across]} and ${scenario.axes[down]}; each cell is the best case ` +
      `${strategy === "" ? "of all strategies" : `of ${strategy}`} there.` +
      extremeText(scenario, cases, measure),
  };
}

interface Cell {
  x: number;
  y: number;
  c: Case;
  colour: number;
}

function bestPerCell(
  cases: Case[],
  across: number,
  down: number,
  columns: (number | string)[],
  rows: (number | string)[],
  { measure }: Request,
): Cell[] {
  const columnOf = (c: Case) => columns.indexOf(c.values[across] ?? "");
  const rowOf = (c: Case) => rows.indexOf(c.values[down] ?? "");
  const placed = cases.filter((c) => columnOf(c) >= 0 && rowOf(c) >= 0);
  const groups = groupBy(placed, (c) => `${columnOf(c)} ${rowOf(c)}`);
  return [...groups].flatMap(([key, group]) => {
    const [x, y] = key.split(" ").map(Number) as [number, number];
    const c = best(group, measure);
    return c ? [{ x, y, c, colour: colourValue(measure.of(c)!.value, measure.key) }] : [];
  });
}

/** Returns the logarithm of a value, because values differ by factors; shares of the bound unchanged. */
function colourValue(value: number, measure: string): number {
  return measure === "efficiency" ? value : Math.log2(Math.max(value, Number.MIN_VALUE));
}

function colourScale({ measure, colours }: Request, values: number[]) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  // The baseline's colour is in the middle; differences below a tenth are pale.
  const reach = Math.max(Math.abs(low), Math.abs(high), Math.log2(1.1));
  const ends = measure.key === "speedup" ? [-reach, reach] : [low, high > low ? high : low + 1];
  const sequential = measure.larger_is_better ? colours.sequential : [...colours.sequential].reverse();
  return {
    show: false,
    min: ends[0]!,
    max: ends[1]!,
    dimension: 2,
    inRange: { color: measure.key === "speedup" ? colours.diverging : sequential },
  };
}

function label(c: Case, measure: Measure, named: boolean): string {
  const figure = measure.label(measure.of(c)!.value);
  return named ? `${figure}\n${c.strategy}` : figure;
}
