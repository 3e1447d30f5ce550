// Samples over time: what all cases do at once is the machine's doing.
import { type Case, type Scenario, caseText, strategiesOf } from "./data";
import { type Drawing, type Point, axisStyle, baseOption, look } from "./drawing";
import type { MarkLineComponentOption } from "./echarts";
import { short } from "./measures";
import type { Colours } from "./theme";

const most_points = 4000;
const most_series = 8;

export function drawSamples(scenario: Scenario, colours: Colours): Drawing {
  const cases = withinLimit(scenario.cases);
  const groups = grouped(scenario, cases);
  const series = [...groups].map(([name, members], index) => {
    const { colour, symbol } = look(index, colours);
    return {
      type: "scatter" as const,
      name,
      symbol,
      symbolSize: 6,
      itemStyle: { color: colour, opacity: 0.75 },
      data: members.flatMap(deviations),
    };
  });
  const entries = [...groups.keys()].map((name, index) => {
    const { colour, sign } = look(index, colours);
    return { name, colour, symbol: sign };
  });
  const style = axisStyle(colours);
  return {
    option: {
      ...baseOption(colours),
      xAxis: { ...style, type: "value", name: "round", nameLocation: "middle", nameGap: 28, minInterval: 1, splitLine: { show: false } },
      yAxis: {
        ...style,
        type: "value",
        name: "deviation from the case’s median",
        nameTextStyle: { color: colours.soft, align: "left" },
        scale: true,
        axisLabel: { ...style.axisLabel, formatter: (value: number) => `${short(value)}%` },
      },
      // A series of its own, which stays when others are hidden.
      series: [...series, { type: "scatter" as const, markLine: launchStarts(scenario, colours) }],
    },
    entries: entries.length > 1 ? entries : [],
    height: 340,
    description:
      "Each sample as its deviation from the median of its case, by the round in which it was taken." +
      (cases.length < scenario.cases.length
        ? ` The first ${cases.length} of ${scenario.cases.length} cases.`
        : "") +
      (scenario.launches.length > 0
        ? ` ${scenario.launches.length} processes took them one after the other; a dashed line stands where the next one begins.`
        : ""),
  };
}

/** Between the last round of a process and the first of the next. */
function launchStarts(scenario: Scenario, colours: Colours): MarkLineComponentOption {
  return {
    silent: true,
    symbol: "none",
    animation: false,
    lineStyle: { color: colours.soft, type: "dashed", width: 1 },
    label: { formatter: ({ name }) => name, color: colours.soft, fontSize: 10 },
    data: scenario.launches
      .map((round, index) => ({ name: `${index + 1}`, xAxis: round - 0.5 }))
      .slice(1),
  };
}

function withinLimit(cases: Case[]): Case[] {
  let points = 0;
  return cases.filter((c) => (points += c.samples.seconds.length) <= most_points);
}

/** A series for each case while they can be told apart, else for each strategy. */
function grouped(scenario: Scenario, cases: Case[]): Map<string, Case[]> {
  if (cases.length <= most_series) return new Map(cases.map((c) => [caseText(scenario, c), [c]]));
  return new Map(strategiesOf(cases).map((name) => [name, cases.filter((c) => c.strategy === name)]));
}

function deviations(c: Case): Point[] {
  const median = c.time[0];
  if (!median) return [];
  return c.samples.seconds.flatMap((seconds, i) =>
    seconds === null ? [] : [{ value: [c.samples.rounds[i]!, 100 * (seconds / median - 1)], row: c.row }],
  );
}
