// Marks of speedups that the medians beside them contradict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/views/table.h"
#include "tests/reports/sample.h"
#include "tests/reports/views/lines.h"

namespace parbench::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(SpeedupMarks, MarkSpeedupsThatTheMediansContradict) {
  Report report = sample_report();
  EXPECT_THAT(to_table(report), Not(HasSubstr("~ from the rounds")));
  for (CaseResult& c : report.cases) {
    if (c.speedup) c.speedup = {90.5, Interval{90, 91, 0.97}, c.speedup->baseline};
  }
  EXPECT_THAT(to_table(report), AllOf(Not(HasSubstr("~ from the rounds")),
                                      HasSubstr("≠ the median of the ratios in each round")));
  EXPECT_THAT(line_with(to_table(report), "651.4 ms"), HasSubstr("×≠")) << "of two processes";
  report.cases[3].samples.pop_back();
  EXPECT_THAT(to_table(report), Not(HasSubstr("~ from the rounds")))
      << "over the rounds that both have, the medians contradict it as well";
}

TEST(SpeedupMarks, MarkSpeedupsThatSamplesOfOtherRoundsContradict) {
  Report report = sample_report();
  CaseResult& one = report.cases[3];
  const double median = one.statistics->median;
  for (int round = 100; round < 140; ++round) one.samples.push_back({2 * median, 0, 2, round});
  one.statistics->median = 2 * median;
  const std::string text = to_table(report);
  EXPECT_THAT(text, HasSubstr("~ from the rounds in which both were sampled"));
  EXPECT_THAT(line_with(text, "1.484 s"), HasSubstr("×~"));
  EXPECT_THAT(line_with(text, "633.7 ms"), Not(HasSubstr("×~")));
}

TEST(SpeedupMarks, MarkSpeedupsFarFromTheQuotientOfTheMediansWhateverTheirInterval) {
  Report report = sample_report();
  const auto show = [&](double share) {
    for (CaseResult& c : report.cases) {
      if (!c.speedup) continue;
      const double quotient = report.cases[0].statistics->median / c.statistics->median;
      c.speedup->value = share * quotient;
      c.speedup->interval = Interval{0.01, 100, 0.97};
    }
    return to_table(report);
  };
  EXPECT_THAT(show(1.11), HasSubstr("≠ the median of the ratios"));
  for (CaseResult& c : report.cases) {
    if (c.speedup) c.statistics->median = report.cases[0].statistics->median / 1.02;
  }
  EXPECT_THAT(show(1.09), Not(HasSubstr("≠"))) << "both above 1";
  EXPECT_THAT(show(0.95), HasSubstr("≠")) << "1.02 and 0.97";
  EXPECT_THAT(show(0.975), Not(HasSubstr("≠"))) << "1.02 and 0.995";
}

TEST(SpeedupMarks, AreNotOnThatTheMediansContradictByLittle) {
  Report report = sample_report();
  for (CaseResult& c : report.cases) {
    if (!c.speedup) continue;
    const double quotient = report.cases[0].statistics->median / c.statistics->median;
    c.speedup->value = 1.019 * quotient;
    c.speedup->interval = Interval{1.018 * quotient, 1.02 * quotient, 0.97};
  }
  EXPECT_THAT(to_table(report), Not(HasSubstr("≠")));
}

}  // namespace
}  // namespace parbench::report
