// Metrics in a table: their columns and remarks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/views/table.h"
#include "tests/reports/views/lines.h"

namespace parbench::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(MetricsInATable, MetricsHaveAColumnWithTheirInterval) {
  CaseResult half =
      measured_case("overlap", "overlapped", {{"prefetch", std::int64_t{1}}}, 1e-3, 8);
  CaseResult most =
      measured_case("overlap", "overlapped", {{"prefetch", std::int64_t{4}}}, 2e-3, 8);
  half.metrics = {{"achieved overlap", 0.52, Interval{-0.01, 0.61, 0.96}}};
  most.metrics = {{"achieved overlap", 0.912, Interval{0.9, 0.93, 0.75}},
                  {"waste", 0.025, std::nullopt}};
  const std::string text = to_table(report_of({half, most}));
  EXPECT_THAT(line_with(text, "strategy"),
              AllOf(HasSubstr("achieved overlap"), HasSubstr("waste")));
  EXPECT_THAT(line_with(text, "1.000 ms"), HasSubstr("52% (−1 to 61%)"));
  EXPECT_THAT(line_with(text, "2.000 ms"), AllOf(HasSubstr("91% (90–93%)°"), HasSubstr(" 2%")));
  EXPECT_THAT(text, HasSubstr("holds the median with 75% only"));
}

TEST(MetricsInATable, MetricsWithoutIntervalKeepTheirName) {
  CaseResult once = measured_case("overlap", "overlapped", {}, 1e-3, 1);
  once.metrics = {{"achieved overlap", 0.52, std::nullopt}};
  EXPECT_THAT(line_with(to_table(report_of({once})), "strategy"), HasSubstr("achieved overlap"));
}

TEST(MetricsInATable, ExplainsMetricsThatAreNotWhatReadersExpect) {
  Report report = sample_report();
  for (CaseResult& c : report.cases) {
    if (has_number(c))
      c.metrics = {{.name = "overlap", .value = 1.2, .remark = "above 100%: for a reason"}};
  }
  const std::string text = to_table(report);
  EXPECT_THAT(text, AllOf(HasSubstr("120%#"), HasSubstr("# above 100%: for a reason\n")));
}

TEST(MetricsInATable, NamesThreeReasonsOfMetricsAndCountsTheRest) {
  Report report = sample_report();
  for (std::size_t i = 0; i < 5; ++i) {
    report.cases[i].metrics = {{.name = "m", .value = 2, .remark = "reason " + std::to_string(i)}};
  }
  EXPECT_THAT(to_table(report), HasSubstr("# reason 0; reason 1; reason 2; and 2 more\n"));
}

}  // namespace
}  // namespace parbench::report
