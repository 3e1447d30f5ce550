// The tables of all scenarios fit a narrow terminal, however many axes are swept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/model/report.h"
#include "reports/views/table.h"
#include "scenarios/framework/scenario.h"
#include "tests/support/widest_line.h"

namespace parbench {
namespace {

using report::CaseResult;
using test::widest_line;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double made_median = 0.1234567;

/// A case with every number that a table shows. Of a sweep, each row but the first has another
/// value of one axis, so that no axis follows from another one.
CaseResult made_case(const Scenario& scenario, const Strategy& strategy, int row, bool sweeps) {
  CaseResult c;
  c.scenario = scenario.name();
  c.strategy = strategy.name;
  c.name = c.scenario + '/' + c.strategy + "/row:" + std::to_string(row);
  c.dtype = "f32";
  int index = 0;
  for (const Axis& axis : scenario.axes()) {
    ++index;
    const bool applies = axis.strategies.empty() ||
                         std::ranges::find(axis.strategies, strategy.name) != axis.strategies.end();
    if (!applies) continue;
    const std::vector<Value>& values = axis.published.empty() ? axis.quick : axis.published;
    Value value = values.empty() ? Value{std::int64_t{1024}} : values.front();
    const bool is_other = sweeps && row == index;
    if (is_other) value = values.size() < 2 ? Value{"swept" + std::to_string(row)} : values[1];
    c.parameters.emplace_back(axis.name, value);
  }
  c.status = report::CaseStatus::measured;
  c.statistics.emplace().median = made_median;
  c.statistics->median_interval = Interval{0.9 * made_median, 1.1 * made_median, 0.875};
  c.samples.resize(4);
  c.amount = 48;
  c.amount_unit = "images";
  c.speedup = Ratio{1.234, Interval{1.1, 1.345, 0.875},
                    c.scenario + '/' + scenario.strategies().front().name + "/row:0"};
  c.metrics = {{c.scenario == "overlap" ? "achieved overlap" : "scaling efficiency", 0.52,
                Interval{-0.01, 0.61, 0.875}}};
  c.bound.emplace().seconds = 0.9 * made_median;
  c.efficiency = 0.9;
  c.memory = {{"cpu:0", 1'600'000'000}, {"cpu:1", 700'000'000}};
  c.stopped_because = "max-time";
  return c;
}

/// An answer about the first two cases, the second of which does not pay.
report::Answer made_answer(const report::Report& made) {
  report::Answer answer{.scenario = made.cases.front().scenario, .question = "which?"};
  answer.text = "Two settings were compared.";
  for (const std::size_t index : {0, 1}) {
    const CaseResult& one = made.cases[index];
    std::string label = one.strategy;
    for (const auto& [name, value] : one.parameters) label += ' ' + report::value_text(value);
    answer.recommendations.push_back(
        {.setting = "image 128, batch " + std::to_string(index),
         .candidates = {index == 0 ? LabelledCase{label, one.name}
                                   : LabelledCase{"one after the other", "base"}},
         .tied = {{label, "other"}},
         .pays = index == 0,
         .gaining = LabelledCase{label, one.name},
         .gain = Ratio{1.67, Interval{1.56, 1.789, 0.875}, one.name},
         .remark = "75% (73–77%) of the shorter of copies and products is hidden"});
  }
  return answer;
}

report::Report made_report(const Scenario& scenario, bool sweeps) {
  report::Report made;
  for (const Strategy& strategy : scenario.strategies()) {
    const int rows = sweeps ? static_cast<int>(scenario.axes().size()) + 1 : 2;
    for (int row = 0; row < rows; ++row) {
      made.cases.push_back(made_case(scenario, strategy, row, sweeps));
    }
  }
  made.cases.back().status = report::CaseStatus::failed;
  made.cases.back().error = std::string(30, 'x') + ' ' + std::string(40, 'y');
  made.answers.push_back(made_answer(made));
  return made;
}

class TableOf : public ::testing::TestWithParam<bool> {};

TEST_P(TableOf, EveryScenarioFitsATerminal) {
  for (const auto& scenario : built_in_scenarios()) {
    const report::Report made = made_report(*scenario, GetParam());
    for (const std::size_t width : {60, 80, 100}) {
      const std::string text = report::to_table(made, {.width = width});
      EXPECT_LE(widest_line(text), width) << text;
      EXPECT_THAT(text, AllOf(HasSubstr("123.5 ms"), ContainsRegex("1.23×(~|≠)? .1.10–1.34")))
          << width;
      EXPECT_THAT(text, AllOf(HasSubstr("1.67× (1.56–1.79)°"), HasSubstr("may pay"))) << width;
      EXPECT_THAT(text, HasSubstr("1.49 GiB")) << "the memory of the fullest device at " << width;
    }
  }
}

TEST_P(TableOf, EveryScenarioSaysWhatIsMissing) {
  for (const auto& scenario : built_in_scenarios()) {
    const report::Report made = made_report(*scenario, GetParam());
    EXPECT_THAT(report::to_table(made, {.width = 60}), HasSubstr("not shown at 60 columns: "));
    const std::string wide = report::to_table(made, {.width = 1000});
    EXPECT_THAT(wide, AllOf(Not(HasSubstr("not shown")), HasSubstr("1.49 GiB")));
  }
}

TEST(LinesOfTables, AreOneForEachCaseOfEveryScenario) {
  for (const auto& scenario : built_in_scenarios()) {
    const std::string text = report::to_table(made_report(*scenario, false), {.width = 80});
    for (std::size_t at = text.find("123.5 ms"); at != std::string::npos;
         at = text.find("123.5 ms", at + 1)) {
      const std::size_t begin = text.rfind('\n', at) + 1;
      EXPECT_NE(text[begin], ' ') << scenario->name() << '\n' << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OneCaseOrASweep, TableOf, ::testing::Bool());

}  // namespace
}  // namespace parbench
