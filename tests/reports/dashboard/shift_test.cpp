// The size of a step against counting by hand and by simulation.
#include "reports/dashboard/shift.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace parbench::report {
namespace {

TEST(MannWhitney, IsTheShareOfArrangements) {
  // Of the 35 ways to place 3 among 7, 1, 1 and 2 have U = 0, 1 and 2.
  EXPECT_DOUBLE_EQ(mann_whitney_cdf(0, 3, 4), 1.0 / 35);
  EXPECT_DOUBLE_EQ(mann_whitney_cdf(2, 3, 4), 4.0 / 35);
  EXPECT_DOUBLE_EQ(mann_whitney_cdf(12, 3, 4), 1);
  EXPECT_DOUBLE_EQ(mann_whitney_cdf(0, 1, 1), 0.5);
}

/// Table of critical values: Hollander, Wolfe, Chicken, A.6; as scipy's mannwhitneyu(method=exact).
TEST(MannWhitney, AgreesWithTables) {
  EXPECT_NEAR(mann_whitney_cdf(23, 10, 10), 0.0216, 5e-5);
  EXPECT_NEAR(mann_whitney_cdf(450, 30, 30), 0.5, 0.005);
}

TEST(MannWhitney, IsSymmetricInItsMiddle) {
  constexpr std::size_t max = 900;
  for (std::size_t u = 0; u < max; ++u) {
    EXPECT_NEAR(mann_whitney_cdf(u, 30, 30), 1 - mann_whitney_cdf(max - 1 - u, 30, 30), 1e-12);
  }
}

TEST(ShiftBetween, IsTheMedianOfAllDifferences) {
  const std::vector<double> before{1, 2, 3};
  const std::vector<double> after{11, 12, 16};
  const Shift shift = shift_between(before, after);  // 8 9 9 10 10 11 13 14 15
  EXPECT_DOUBLE_EQ(shift.value, 10);
  EXPECT_DOUBLE_EQ(shift.interval.low, 8);
  EXPECT_DOUBLE_EQ(shift.interval.high, 15);
  EXPECT_DOUBLE_EQ(shift.interval.confidence, 0.9);  // all that three and three can give
}

TEST(ShiftBetween, SingleValuesHaveNoConfidence) {
  const Shift shift = shift_between(std::vector{1.0}, std::vector{3.0});
  EXPECT_DOUBLE_EQ(shift.value, 2);
  EXPECT_DOUBLE_EQ(shift.interval.confidence, 0);
}

TEST(ShiftBetween, ItsIntervalHoldsTheShiftAsOftenAsItSays) {
  std::mt19937_64 generator(11);
  std::student_t_distribution<double> noise(3);
  int held = 0;
  constexpr int trials = 2000;
  double confidence = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> before;
    std::vector<double> after;
    for (int i = 0; i < 12; ++i) before.push_back(noise(generator));
    for (int i = 0; i < 9; ++i) after.push_back(5 + noise(generator));
    const Interval interval = shift_between(before, after).interval;
    held += interval.low <= 5 && 5 <= interval.high;
    confidence = interval.confidence;
  }
  EXPECT_GE(confidence, wanted_confidence);
  // Four standard deviations of a share of 95% in 2000.
  EXPECT_NEAR(held / static_cast<double>(trials), confidence, 0.02);
}

}  // namespace
}  // namespace parbench::report
