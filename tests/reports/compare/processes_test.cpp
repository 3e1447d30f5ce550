// From samples to estimates, against scipy's figures.
#include "reports/compare/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/reports/compare/made_report.h"

namespace parbench::compare {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

Processes processes(const std::vector<double>& medians) {
  return processes_of(made_case(1, medians));
}

double interval_half_width(const Estimate& estimate) {
  const Judgement judgement = judge(std::vector{estimate}, {}).front();
  return std::log1p(judgement.change.interval.high) - estimate.log_ratio;
}

TEST(Processes, AreMediansOfTheSamplesOfEachProcess) {
  report::CaseResult c = made_case(1, {1.0, 3.0});
  c.samples.push_back({.seconds = 50, .process = 0});  // 0.999, 1, 1.001, 50
  const Processes found = processes_of(c);
  EXPECT_THAT(found.log_medians,
              ElementsAre(DoubleNear(std::log(1.0005), 1e-12), DoubleNear(std::log(3.0), 1e-12)));
  EXPECT_EQ(found.sampling_variance, 0);
}

TEST(Processes, OneAloneHasTheErrorOfItsMedian) {
  report::CaseResult c = made_case(1, {});
  for (const double seconds : {8.0, 9.0, 10.0, 11.0, 12.0})
    c.samples.push_back({.seconds = seconds});
  const Processes found = processes_of(c);
  const double sigma = 1.482602218505602 * 1.0 / 10.0;  // of a median absolute deviation of 1
  EXPECT_NEAR(found.sampling_variance, 1.5707963267948966 * sigma * sigma / 5, 1e-12);
  EXPECT_EQ(found.sampling_degrees_of_freedom, 4);
}

TEST(Processes, OneAloneOfFewSamplesHasNoVariance) {
  report::CaseResult c = made_case(1, {});
  for (const bool enough : {false, false, true, true}) {
    c.samples.push_back({.seconds = 1});
    EXPECT_EQ(processes_of(c).has_variance, enough) << c.samples.size() << " samples";
  }
  c.samples.back().process = 1;
  EXPECT_TRUE(processes_of(c).has_variance) << "that of the processes";
}

TEST(Processes, OneAloneOfACoarseClockIsNotKnownExactly) {
  report::CaseResult c = made_case(1, {});
  for (const double seconds : {2.0, 2.0, 2.0, 3.0}) c.samples.push_back({.seconds = seconds});
  const double sigma = 0.5 / 2;  // their standard deviation over the median
  EXPECT_NEAR(processes_of(c).sampling_variance, 1.5707963267948966 * sigma * sigma / 4, 1e-12);
}

TEST(Welch, GivesTheFiguresOfScipy) {
  // scipy 1.10: ttest_ind(log(now), log(base), equal_var=False)
  const Estimate estimate = estimate_change(processes({1.00, 1.02, 0.99, 1.01, 1.03}),
                                            processes({1.06, 1.05, 1.09, 1.04}));
  EXPECT_NEAR(estimate.log_ratio, 0.04826208551445724, 1e-12);
  EXPECT_NEAR(estimate.variance, 0.00015165114958721543, 1e-14);
  EXPECT_NEAR(estimate.degrees_of_freedom, 5.5936411070634, 1e-9);
  EXPECT_NEAR(p_value(estimate), 0.008972704001720105, 1e-9);
  const Change change = judge(std::vector{estimate}, {}).front().change;
  EXPECT_NEAR(change.value, 0.04944566379171831, 1e-12);
  EXPECT_NEAR(change.interval.low, 0.017746120034996118, 1e-9);
  EXPECT_NEAR(change.interval.high, 0.08213254717529143, 1e-9);
}

TEST(OneProcess, HasTheAssumedSpreadOnBothSidesTogether) {
  const Estimate estimate = estimate_change(processes({1.0}), processes({1.1}));
  const double assumed = 2 * assumed_process_spread * assumed_process_spread;
  EXPECT_GT(estimate.variance, assumed);
  EXPECT_LT(estimate.variance, 1.01 * assumed) << "samples within a thousandth";
  EXPECT_NEAR(estimate.degrees_of_freedom, assumed_degrees_of_freedom, 0.05)
      << "one assumption, not two measurements";
}

TEST(OneProcess, HasTheKnownSpreadWithoutDoubtAboutIt) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const AssumedSpread known{.deviation = 0.01, .degrees_of_freedom = infinite};
  const Estimate estimate = estimate_change(processes({1.0}), processes({1.03}), known);
  EXPECT_NEAR(std::sqrt(estimate.variance), 0.01 * std::sqrt(2), 2e-4);
  EXPECT_GT(estimate.degrees_of_freedom, 100);
  const Estimate noisy = estimate_change(processes({0.9, 1.0, 1.1}), processes({1.0}), known);
  EXPECT_GT(noisy.variance, 0.009) << "the other side shows more than was known";
  EXPECT_LT(noisy.degrees_of_freedom, 7);
}

TEST(OneProcess, HasWiderIntervalsThanFive) {
  const std::vector<double> five{0.995, 0.998, 1.0, 1.003, 1.005};
  const double both = interval_half_width(estimate_change(processes(five), processes(five)));
  const double one = interval_half_width(estimate_change(processes(five), processes({1.0})));
  const double none = interval_half_width(estimate_change(processes({1.0}), processes({1.0})));
  EXPECT_GT(one, 4 * both);
  EXPECT_GT(none, one);
}

TEST(OneProcess, IsTakenToVaryAsMuchAsTheOtherSideDoes) {
  const std::vector<double> noisy{0.9, 0.95, 1.0, 1.05, 1.1};
  const double spread = 0.0793;  // standard deviation of their logarithms
  const Estimate estimate = estimate_change(processes(noisy), processes({1.0}));
  EXPECT_NEAR(std::sqrt(estimate.variance), spread * std::sqrt(1 + 1.0 / 5), 0.001);
}

TEST(Processes, ThatDoNotVaryAtAllLeaveNoDoubt) {
  const Estimate estimate = estimate_change(processes({1, 1, 1}), processes({1.1, 1.1, 1.1}));
  EXPECT_EQ(p_value(estimate), 0);
  EXPECT_EQ(judge(std::vector{estimate}, {}).front().verdict, Verdict::regressed);
}

}  // namespace
}  // namespace parbench::compare
