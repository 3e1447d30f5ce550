// Which columns a table of cases has, and which of them a narrow terminal keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "reports/text/text.h"
#include "reports/views/finding_lines.h"
#include "reports/views/table.h"
#include "reports/views/table_parts.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t narrow = 80;

Report report_with(std::vector<CaseResult> cases) {
  Report report = sample_report();
  report.cases = std::move(cases);
  report.answers.clear();
  report.findings.clear();
  report.roles = {{"pipeline", "partition", Role::partition, "balanced"},
                  {"pipeline", "recompute", Role::memory_saving, ""}};
  return report;
}

/// A case of a pipeline whose later stages begin with these units.
CaseResult cut_case(std::int64_t split, const std::string& partition, const std::string& units) {
  CaseResult c =
      measured_case("pipeline", "pipeline", {{"split", split}, {"partition", partition}}, 0.5, 6);
  c.notes.emplace_back("cut at", units);
  return c;
}

TEST(CaseColumns, ShowWhereAllStagesBegin) {
  const auto table_of = [](std::vector<CaseResult> cases) {
    return to_table(report_with(std::move(cases)), {.width = 200});
  };
  EXPECT_THAT(table_of({cut_case(2, "balanced", "layer2.0"), cut_case(4, "balanced", "layer3.1")}),
              HasSubstr("\ncut at layer2.0 · cut at layer3.1 in pipeline, split 4\n"))
      << "the first cut, and the cases that have another one";
  EXPECT_THAT(table_of({cut_case(2, "balanced", "layer2.0"), cut_case(4, "balanced", "layer2.0")}),
              HasSubstr("partition balanced · cut at layer2.0"))
      << "above the table where all are alike";
  EXPECT_THAT(table_of({cut_case(2, "layer2.0", "layer2.0"), cut_case(4, "layer2.0", "layer2.0")}),
              Not(HasSubstr("cut at")))
      << "the partition says it";
}

TEST(CaseColumns, OfMetricsWithAUnitAreRates) {
  CaseResult ring = measured_case("collectives", "ring", {}, 1e-3, 8);
  ring.metrics = {{.name = "bus bandwidth",
                   .value = 8.25e9,
                   .interval = Interval{8e9, 9e9, 0.96},
                   .unit = "B"}};
  const std::string text = to_table(report_with({ring}), {.width = 200});
  EXPECT_THAT(text, AllOf(ContainsRegex("\n +bus\nstrategy .* GB/s\n"), HasSubstr(" 8.25\n"),
                          Not(HasSubstr("%)"))));
}

CaseResult collective_case(const char* strategy, const char* size, double seconds, double bytes) {
  CaseResult c = measured_case(
      "collectives", strategy,
      {{"collective", strategy == std::string("tree") ? "all-reduce" : "reduce-scatter"},
       {"size", size}},
      seconds, 6);
  c.speedup =
      Ratio{0.94, Interval{0.4, 10.88, 0.97}, "collectives/direct/collective:all-reduce/size:4KiB"};
  c.stopped_because = "total-time";
  c.amount = bytes;
  c.amount_unit = "B";
  c.metrics = {{.name = "bus bandwidth",
                .value = bytes / seconds / 2,
                .interval = Interval{1, 2, 0.97},
                .unit = "B"},
               {.name = "of send-recv", .value = 0.5, .interval = Interval{0.4, 0.6, 0.97}}};
  c.memory = {{"cpu:0", 8192}};
  return c;
}

/// Two bandwidths in one unit, of nccl-tests' sizes from bytes to MiB.
TEST(CaseColumns, ShowBothBandwidthsOfCollectivesAtEightyColumns) {
  const std::string text =
      to_table(report_with({measured_case("collectives", "direct",
                                          {{"collective", "all-reduce"}, {"size", "4KiB"}}, 1, 6),
                            collective_case("ring", "4KiB", 73.5e-6, 4096),
                            collective_case("ring", "256KiB", 100e-6, 262144),
                            collective_case("tree", "16MiB", 5e-3, 16777216)}),
               {.width = narrow});
  EXPECT_THAT(text, ContainsRegex("\n +bus\ncase +median +n +GB/s +speedup over direct +GB/s\n"));
  EXPECT_THAT(text,
              ContainsRegex("\nring reduce-scatter 4KiB +73.50 µs‡ +6 +0.056 .*10.88. +0.028\n"));
  EXPECT_THAT(text, ContainsRegex("\nring reduce-scatter 256KiB +100.0 µs‡ +6 +2.62 .* 1.31\n"));
  EXPECT_THAT(text, ContainsRegex("\ntree all-reduce 16MiB +5.000 ms‡ +6 +3.36 .* 1.68\n"));
  EXPECT_THAT(text, HasSubstr("not shown at 80 columns: "));
}

/// The achieved overlap is what the scenario asks for, beside which bounds are details.
TEST(CaseColumns, ShowTheAchievedOverlapWhateverElseHasNoRoom) {
  std::vector<CaseResult> cases{
      measured_case("overlap", "sequential", {{"direction", "d2h"}, {"memory", "pinned"}}, 0.1, 6)};
  for (const char* memory : {"pinned", "pageable"}) {
    for (const std::int64_t prefetch : {1, 4}) {
      CaseResult c = measured_case("overlap", "overlapped",
                                   {{"direction", prefetch == 1 ? "d2h" : "h2d"},
                                    {"memory", memory},
                                    {"prefetch", prefetch}},
                                   0.1, 6);
      c.speedup = Ratio{0.945, Interval{0.889, 1.005, 0.5}, cases.front().name};
      c.stopped_because = "total-time";
      c.metrics = {{"achieved overlap", 0.52, Interval{-0.01, 0.61, 0.5}}};
      c.bound.emplace().seconds = 0.09;
      c.efficiency = 0.9;
      c.amount = 16;
      c.amount_unit = "matrices";
      c.memory = {{"cpu:0", 129U << 20U}};
      cases.push_back(std::move(c));
    }
  }
  for (const std::size_t width : {narrow, std::size_t{100}, std::size_t{120}}) {
    const std::string text = to_table(report_with(cases), {.width = width});
    EXPECT_THAT(text, AllOf(ContainsRegex("achieved +overlap"), HasSubstr("52% (−1 to 61%)°")))
        << text;
  }
}

TEST(CaseColumns, SayWhyACaseHasNoBoundBesideOthersThatHave) {
  Report report = sample_report();
  EXPECT_THAT(to_table(report), Not(HasSubstr("∅")));
  report.cases[1].bound.reset();
  report.cases[1].efficiency = 0;
  EXPECT_THAT(
      to_table(report),
      HasSubstr("\n∅ no bound: the time limit was reached before its tasks were measured alone"));
  for (CaseResult& c : report.cases) c.bound.reset();
  EXPECT_THAT(to_table(report), Not(HasSubstr("∅"))) << "there is no such column";
}

TEST(CaseColumns, MarkSpeedupsOfASingleRound) {
  Report report = sample_report();
  EXPECT_THAT(to_table(report), Not(HasSubstr("¹")));
  report.cases[1].speedup->interval.reset();
  report.cases[1].speedup->value =
      report.cases[0].statistics->median / report.cases[1].statistics->median;
  const std::string text = to_table(report);
  EXPECT_THAT(text, HasSubstr("0.97×¹"));
  EXPECT_THAT(text, HasSubstr("\n¹ from the only round in which both were sampled"));
}

TEST(CaseColumns, OfANarrowTableKeepTheMemoryOfTheFullestDevice) {
  const auto case_with = [](const char* recompute) {
    CaseResult c = measured_case("pipeline", "model-parallel",
                                 {{"batch", std::int64_t{24}}, {"recompute", recompute}}, 0.5, 6);
    c.memory = {{"cpu:0", 64U << 20U}, {"cpu:1", 96U << 20U}};
    c.speedup = Ratio{1.5, Interval{1.4, 1.6, 0.97}, "pipeline/single"};
    c.bound.emplace().seconds = 0.45;
    c.efficiency = 0.9;
    c.amount = 48;
    c.amount_unit = "images";
    return c;
  };
  const auto table_of = [](std::vector<CaseResult> cases) {
    return to_table(report_with(std::move(cases)), {.width = narrow});
  };
  EXPECT_THAT(table_of({case_with("none"), case_with("block")}),
              AllOf(HasSubstr("96.0 MiB"), Not(HasSubstr("64.0 + 96.0 MiB"))));
  CaseResult other = case_with("none");
  other.parameters[0].second = std::int64_t{48};
  EXPECT_THAT(table_of({case_with("none"), other}),
              AllOf(HasSubstr("96.0 MiB"), HasSubstr("1.50× (1.40–1.60)"), HasSubstr("± 0.1%")));
}

/// Strategies with parameters of their own, as layouts of several devices have.
CaseResult layout_case(const std::string& model, const std::string& layout, NamedValues own) {
  NamedValues values{{"model", model}, {"layout", layout}};
  values.insert(values.end(), own.begin(), own.end());
  CaseResult c = measured_case("pipeline", "divided", values, 0.5, 6);
  c.speedup = Ratio{1.5, Interval{1.4, 1.6, 0.97}, "pipeline/single/model:" + model};
  c.memory = {{"cpu:0", 64U << 20U}, {"cpu:1", 96U << 20U}};
  c.bound.emplace().seconds = 0.45;
  c.efficiency = 0.9;
  c.stopped_because = "total-time";
  return c;
}

std::vector<CaseResult> layout_cases(const std::string& model) {
  return {measured_case("pipeline", "single", {{"model", model}}, 1, 6),
          layout_case(model, "dp2", {{"bucket", std::int64_t{0}}}),
          layout_case(model, "pp2", {{"split", std::int64_t{2}}, {"schedule", "gpipe"}}),
          layout_case(model, "tp2", {})};
}

TEST(CaseColumns, HaveALineForEachCaseAtEightyColumns) {
  std::vector<CaseResult> cases = layout_cases("gpt");
  std::ranges::move(layout_cases("rnn-lm"), std::back_inserter(cases));
  const std::string text = to_table(report_with(cases), {.width = narrow});
  EXPECT_THAT(text, ContainsRegex("\ndivided gpt pp2 +500.0 ms‡ +± [0-9.]+% +1.50×≠ "
                                  ".1.40–1.60. +90%  96.0 MiB\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("\nlayout dp2: bucket 0\n"),
                          HasSubstr("\nlayout pp2: split 2 · schedule gpipe\n"),
                          HasSubstr("‡ sampling ended at the time limit of the whole run")))
      << "values that the layout decides stand above the table";
}

/// A single value of a parameter follows from the layout, even if each row has its own.
TEST(CaseColumns, OfASingleValueStandAboveTheTable) {
  const Report report = report_with(layout_cases("gpt"));
  const ScenarioCases group = by_scenario(report).front();
  EXPECT_EQ(CaseLabels(group.cases).label(report.cases[2].name), "divided, layout pp2");
}

/// A case of a model with sizes that no other model has.
CaseResult model_case(const std::string& model, std::int64_t split) {
  NamedValues values{{"model", model}};
  if (model == "gpt") values.emplace_back("heads", std::int64_t{4});
  values.emplace_back("layers", static_cast<std::int64_t>(model.size()));
  values.emplace_back("split", split);
  CaseResult c = measured_case("pipeline", "pipeline", values, 0.5, 6);
  c.name += "/" + model + std::to_string(split);
  return c;
}

TEST(CaseColumns, WhatFollowsFromAModelStandsAboveTheTable) {
  const Report report = report_with({model_case("gpt", 2), model_case("gpt", 4),
                                     model_case("rnn-lm", 2), model_case("rnn-lm", 4)});
  const std::string text = to_table(report, {.width = narrow});
  EXPECT_THAT(text, AllOf(HasSubstr("\nmodel gpt: heads 4 · layers 3\n"),
                          HasSubstr("\nmodel rnn-lm: layers 6\n"), HasSubstr("model  split")));
  const ScenarioCases group = by_scenario(report).front();
  EXPECT_EQ(CaseLabels(group.cases).label(report.cases[3].name), "pipeline, model rnn-lm, split 4");
}

}  // namespace
}  // namespace parbench::report
