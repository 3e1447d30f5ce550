// Tests, correction, intervals and the rule, by examples.
#include "reports/compare/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace parbench::compare {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double infinite = std::numeric_limits<double>::infinity();

Estimate estimate(double change, double standard_error, double degrees_of_freedom = infinite) {
  return {std::log1p(change), standard_error * standard_error, degrees_of_freedom};
}

Judgement judged(const Estimate& single, double threshold = 0.02) {
  return judge(std::vector{single}, {.significance = 0.05, .threshold = threshold}).front();
}

TEST(PValue, IsThatOfScipy) {
  // scipy 1.10: 2 * scipy.stats.t.sf(t, degrees of freedom)
  EXPECT_NEAR(p_value({2.0, 1.0, 4.0}), 0.11611652351681556, 1e-12);
  EXPECT_NEAR(p_value({-2.0, 1.0, 4.0}), 0.11611652351681556, 1e-12);
  EXPECT_NEAR(p_value({0.3, 1.0, 1.0}), 0.8144528418445154, 1e-12);
  EXPECT_NEAR(p_value({5.5 * 0.1, 0.01, 7.3}), 0.0007860631026994812, 1e-12);
  EXPECT_NEAR(p_value({12.0, 1.0, 30.0}), 5.580185415199261e-13, 1e-22);
  // 2 * scipy.stats.norm.sf(2.5)
  EXPECT_NEAR(p_value({2.5, 1.0, infinite}), 0.012419330651552265, 1e-12);
}

TEST(PValue, IsSureWhereNothingVaries) {
  EXPECT_EQ(p_value({0, 0, 4}), 1);
  EXPECT_EQ(p_value({0.01, 0, 4}), 0);
}

TEST(Holm, StepsDownUntilTheFirstThatExceedsItsLevel) {
  EXPECT_THAT(holm_levels(std::vector{0.01, 0.04, 0.03, 0.005}, 0.06),
              ElementsAre(0.06 / 3, 0.06, 0.06 / 2, 0.06 / 4))
      << "0.005 ≤ 0.015, 0.01 ≤ 0.02, 0.03 ≤ 0.03, 0.04 ≤ 0.06";
}

TEST(Holm, StopsForGood) {
  EXPECT_THAT(holm_levels(std::vector{0.03, 0.026, 0.011}, 0.05),
              ElementsAre(0.05 / 2, 0.05 / 2, 0.05 / 3))
      << "0.026 > 0.025, so that 0.03 is not held against 0.05";
  EXPECT_THAT(holm_levels(std::vector<double>{}, 0.05), IsEmpty());
}

TEST(Verdict, NeedsEvidenceAndSize) {
  EXPECT_EQ(judged(estimate(0.05, 0.01)).verdict, Verdict::regressed);
  EXPECT_EQ(judged(estimate(-0.05, 0.01)).verdict, Verdict::improved);
  EXPECT_EQ(judged(estimate(0.05, 0.04)).verdict, Verdict::undecided) << "no evidence";
  EXPECT_EQ(judged(estimate(0.019, 0.004)).verdict, Verdict::undecided) << "evidence, not size";
  EXPECT_EQ(judged(estimate(0.01, 0.001)).verdict, Verdict::same) << "evidence of less than 2%";
  EXPECT_EQ(judged(estimate(0, 0.001)).verdict, Verdict::same);
  EXPECT_EQ(judged(estimate(0, 0.02)).verdict, Verdict::undecided) << "may be 4%";
  EXPECT_EQ(judged(estimate(0.01, 0.0075)).verdict, Verdict::undecided) << "may be 2.5%";
  EXPECT_EQ(judged(estimate(-0.01, 0.0075)).verdict, Verdict::undecided) << "may be -2.5%";
  EXPECT_EQ(judged(estimate(0.0199, 0)).verdict, Verdict::same);
  EXPECT_EQ(judged(estimate(0.0201, 0)).verdict, Verdict::regressed);
  EXPECT_EQ(judged(estimate(0, 1)).verdict, Verdict::undecided) << "any width";
}

TEST(Verdict, EqualTimesAreTheSameWithoutAnyThreshold) {
  EXPECT_EQ(judged(estimate(0, 0), 0).verdict, Verdict::same);
}

TEST(Verdict, TakesTheThresholdThatIsGiven) {
  EXPECT_EQ(judged(estimate(0.05, 0.01), 0.06).verdict, Verdict::undecided);
  EXPECT_EQ(judged(estimate(0.05, 0.001), 0.06).verdict, Verdict::same);
  EXPECT_EQ(judged(estimate(0.001, 0.0001), 0).verdict, Verdict::regressed);
}

TEST(Verdict, AChangeOfTheThresholdIsLargeEnough) {
  const Estimate exact{0.02, 0, infinite};
  EXPECT_EQ(judged(exact, std::expm1(0.02)).verdict, Verdict::regressed);
}

TEST(Verdict, HasANameInReports) {
  EXPECT_EQ(to_string(Verdict::regressed), "regressed");
  EXPECT_EQ(to_string(Verdict::improved), "improved");
  EXPECT_EQ(to_string(Verdict::same), "same");
  EXPECT_EQ(to_string(Verdict::undecided), "undecided");
}

TEST(Verdict, OfNewOverBaseInTime) {
  const Judgement judgement = judged(estimate(0.05, 0.01));
  EXPECT_NEAR(judgement.change.value, 0.05, 1e-12);
  EXPECT_NEAR(judgement.change.interval.low, 1.05 * std::exp(-0.01 * 1.959963985) - 1, 1e-9);
  EXPECT_NEAR(judgement.change.interval.high, 1.05 * std::exp(0.01 * 1.959963985) - 1, 1e-9);
  EXPECT_NEAR(judgement.change.interval.confidence, 0.95, 1e-12);
}

TEST(Verdict, OfACaseDependsOnHowManyThereAre) {
  std::vector<Estimate> family(10, estimate(0, 0.01));
  family.front() = estimate(0.025, 0.01);
  EXPECT_EQ(judge(std::vector{family.front()}, {}).front().verdict, Verdict::regressed);
  EXPECT_EQ(judge(family, {}).front().verdict, Verdict::undecided);
}

/// The interval and the evidence are two sides of one thing, whatever the family.
TEST(Judgement, HasAnIntervalThatExcludesNoChangeExactlyWhereThereIsEvidence) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  int excluded = 0;
  for (int run = 0; run < 200; ++run) {
    std::vector<Estimate> family;
    std::vector<double> p_values;
    for (int i = 0; i < 8; ++i) {
      family.push_back({0.05 * normal(random), 1e-4, 2.0 + i});
      p_values.push_back(p_value(family.back()));
    }
    const std::vector<double> levels = holm_levels(p_values, 0.05);
    const std::vector<Judgement> judgements = judge(family, {});
    for (std::size_t i = 0; i < family.size(); ++i) {
      const Interval& interval = judgements[i].change.interval;
      const bool excludes = interval.low > 0 || interval.high < 0;
      EXPECT_EQ(excludes, p_values[i] <= levels[i]);
      EXPECT_NEAR(interval.confidence, 1 - levels[i], 1e-12);
      excluded += excludes ? 1 : 0;
    }
  }
  EXPECT_GT(excluded, 100) << "both happen";
  EXPECT_LT(excluded, 1500);
}

/// Where no variance is left, neither are degrees of freedom.
TEST(Judgement, HasAnIntervalOfOneNumberWhereNothingVaries) {
  const Change change = judged({0.03, 0, std::numeric_limits<double>::quiet_NaN()}).change;
  EXPECT_EQ(change.value, std::expm1(0.03));
  EXPECT_EQ(change.interval.low, change.value);
  EXPECT_EQ(change.interval.high, change.value);
}

TEST(Judgement, OfDecidedAndOpenCasesIsCorrectedForThoseThatAreLeft) {
  const std::vector<Estimate> family{estimate(0.03, 0.02), estimate(0.1, 0.001), estimate(0, 0.001),
                                     estimate(-0.1, 0.002)};
  const std::vector<Judgement> judgements = judge(family, {});
  EXPECT_EQ(judgements[0].verdict, Verdict::undecided);
  EXPECT_EQ(judgements[1].verdict, Verdict::regressed);
  EXPECT_EQ(judgements[2].verdict, Verdict::same);
  EXPECT_EQ(judgements[3].verdict, Verdict::improved);
  const Rule usual;
  const auto confidence = [&](std::size_t which) {
    return judgements[which].change.interval.confidence;
  };
  EXPECT_NEAR(confidence(1), 1 - usual.significance / 4, 1e-12);
  EXPECT_NEAR(confidence(3), 1 - usual.significance / 3, 1e-12);
  EXPECT_NEAR(confidence(0), 1 - usual.significance / 2, 1e-12);
  EXPECT_NEAR(confidence(2), 1 - usual.significance / 2, 1e-12);
}

TEST(Judgement, OfAVeryUncertainEstimateIsUndecidedNotAnError) {
  const Judgement judgement = judged(estimate(0.5, 1000, 1));
  EXPECT_EQ(judgement.verdict, Verdict::undecided);
  EXPECT_THAT(judgement.change.interval.low, DoubleNear(-1, 1e-12));
  EXPECT_EQ(judgement.change.interval.high, infinite);
}

}  // namespace
}  // namespace parbench::compare
