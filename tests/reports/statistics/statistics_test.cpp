// Statistics against values worked out by hand and against a simulation of their promise.
#include "reports/statistics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

namespace parbench {
namespace {

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_DOUBLE_EQ(median(std::vector{3.0, 1.0, 2.0}), 2.0);
  EXPECT_DOUBLE_EQ(median(std::vector{4.0, 1.0, 2.0, 3.0}), 2.5);
  EXPECT_DOUBLE_EQ(median(std::vector{7.0}), 7.0);
  EXPECT_EQ(median_index(std::vector{3.0, 1.0, 2.0}), 2U);
  EXPECT_EQ(median_index(std::vector{4.0, 1.0, 2.0, 3.0}), 2U) << "the lower of two";
}

TEST(Statistics, NearestIndexIsThatOfTheFirstOfSeveral) {
  EXPECT_EQ(nearest_index(std::vector{4.0, 1.0, 2.5, 3.0}, 2.0), 2U);
  EXPECT_EQ(nearest_index(std::vector{4.0, 1.0, 3.0}, 2.0), 1U);
  EXPECT_EQ(nearest_index(std::vector{4.0}, 100.0), 0U);
}

TEST(Statistics, NoValuesAreRefused) {
  EXPECT_THROW((void)nearest_index({}, 1), std::invalid_argument);
  EXPECT_THROW((void)median({}), std::invalid_argument);
  EXPECT_THROW((void)median_index({}), std::invalid_argument);
  EXPECT_THROW((void)mean({}), std::invalid_argument);
  EXPECT_THROW((void)standard_deviation({}), std::invalid_argument);
  EXPECT_THROW((void)median_absolute_deviation({}), std::invalid_argument);
}

TEST(Statistics, SpreadOfKnownValues) {
  const std::vector values{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
  EXPECT_DOUBLE_EQ(mean(values), 5.0);
  EXPECT_NEAR(standard_deviation(values), std::sqrt(32.0 / 7.0), 1e-12);
  EXPECT_DOUBLE_EQ(median_absolute_deviation(values), 0.5);
  EXPECT_DOUBLE_EQ(standard_deviation(std::vector{3.0}), 0.0);
}

TEST(Statistics, OneOutlierMovesTheMeanOnly) {
  const report::Statistics result = summarise(std::vector{1.0, 1.0, 1.0, 1.0, 1000.0});
  EXPECT_DOUBLE_EQ(result.median, 1.0);
  EXPECT_DOUBLE_EQ(result.mean, 200.8);
  EXPECT_DOUBLE_EQ(result.median_absolute_deviation, 0.0);
  EXPECT_DOUBLE_EQ(result.min, 1.0);
  EXPECT_DOUBLE_EQ(result.max, 1000.0);
}

TEST(MedianInterval, NeedsTwoValues) {
  EXPECT_FALSE(median_interval({}).has_value());
  EXPECT_FALSE(median_interval(std::vector{1.0}).has_value());
}

TEST(MedianInterval, FewerThanSixValuesReportTheirTrueConfidence) {
  std::vector<double> values{0.0};
  for (int n = 2; n <= 5; ++n) {
    values.push_back(n);
    const auto interval = median_interval(values);
    ASSERT_TRUE(interval.has_value());
    EXPECT_DOUBLE_EQ(interval->low, 0.0);
    EXPECT_DOUBLE_EQ(interval->high, n);
    EXPECT_NEAR(interval->confidence, 1 - std::pow(2.0, 1 - n), 1e-12);
    EXPECT_LT(interval->confidence, 0.95);
  }
}

/// Ranks of the tables of the sign test: n = 6 → 1st and 6th, 9 → 2nd, 20 → 6th, 100 → 40th.
TEST(MedianInterval, RanksOfTheSignTest) {
  const std::vector<std::pair<int, int>> ranks{{6, 1}, {8, 1}, {9, 2}, {12, 3}, {20, 6}, {100, 40}};
  for (const auto& [count, rank] : ranks) {
    std::vector<double> values;
    for (int i = count; i >= 1; --i) values.push_back(i);
    const auto interval = median_interval(values);
    ASSERT_TRUE(interval.has_value());
    EXPECT_DOUBLE_EQ(interval->low, rank) << count;
    EXPECT_DOUBLE_EQ(interval->high, count + 1 - rank) << count;
    EXPECT_GE(interval->confidence, 0.95) << count;
  }
}

TEST(MedianInterval, ConfidenceOfSixValues) {
  const auto interval = median_interval(std::vector{1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
  EXPECT_NEAR(interval->confidence, 0.96875, 1e-12);
}

TEST(MedianInterval, CoversTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 generator(20240811);
  std::lognormal_distribution<double> skewed(0.0, 1.0);  // median 1
  constexpr int trials = 4000;
  for (const int count : {3, 6, 11, 25}) {
    int covered = 0;
    double promised = 0;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> values(static_cast<std::size_t>(count));
      for (double& value : values) value = skewed(generator);
      const auto interval = median_interval(values);
      promised = interval->confidence;
      if (interval->low <= 1.0 && 1.0 <= interval->high) ++covered;
    }
    const double error = std::sqrt(promised * (1 - promised) / trials);
    EXPECT_NEAR(static_cast<double>(covered) / trials, promised, 4 * error) << count;
  }
}

TEST(RelativeHalfWidth, OfTheMedian) {
  EXPECT_DOUBLE_EQ(relative_half_width({1.5, 2.5, 0.95}, 2.0), 0.25);
  EXPECT_DOUBLE_EQ(relative_half_width({0.0, 0.0, 0.95}, 0.0), 0.0);
  EXPECT_EQ(relative_half_width({0.0, 1.0, 0.95}, 0.0), std::numeric_limits<double>::infinity());
}

TEST(PairedRatio, CancelsDriftThatHitsBoth) {
  // Both slow down fivefold while they are sampled; the ratio stays 2.
  std::vector<double> baseline;
  std::vector<double> faster;
  for (int i = 0; i < 8; ++i) {
    const double drift = 1.0 + i * 0.5;
    baseline.push_back(2.0 * drift);
    faster.push_back(1.0 * drift);
  }
  const auto ratio = paired_ratio(baseline, faster);
  ASSERT_TRUE(ratio.has_value());
  EXPECT_DOUBLE_EQ(ratio->value, 2.0);
  ASSERT_TRUE(ratio->interval.has_value());
  EXPECT_DOUBLE_EQ(ratio->interval->low, 2.0);
  EXPECT_DOUBLE_EQ(ratio->interval->high, 2.0);
}

TEST(PairedRatio, PairsByRound) {
  const std::vector<report::Sample> baseline{{4.0, 4.0, 1, 0}, {9.0, 9.0, 1, 1}, {8.0, 8.0, 1, 3}};
  const std::vector<report::Sample> samples{{1.0, 1.0, 1, 2}, {2.0, 2.0, 1, 3}, {2.0, 2.0, 1, 0}};
  const auto ratio = paired_ratio(baseline, samples);
  ASSERT_TRUE(ratio.has_value());
  EXPECT_DOUBLE_EQ(ratio->value, std::sqrt(8.0));  // of 4/2 and 8/2
  EXPECT_DOUBLE_EQ(ratio->interval->low, 2.0);
  EXPECT_DOUBLE_EQ(ratio->interval->high, 4.0);
  EXPECT_DOUBLE_EQ(ratio->interval->confidence, 0.5);
}

TEST(PairedMedian, TakesRoundsThatAllCasesHave) {
  const std::vector<report::Sample> first{{1, 1, 1, 0}, {2, 2, 1, 1}, {3, 3, 1, 2}, {9, 9, 1, 4}};
  const std::vector<report::Sample> second{{20, 20, 1, 1}, {30, 30, 1, 2}, {90, 90, 1, 4}};
  const std::vector<report::Sample> third{{900, 9, 1, 4}, {100, 1, 1, 0}, {200, 2, 1, 1}};
  const auto sum = [](std::span<const double> seconds, std::span<const double>) {
    return seconds[0] + seconds[1] - seconds[2];
  };
  const auto result = paired_median(std::vector<Samples>{first, second, third}, sum);
  ASSERT_TRUE(result.has_value());
  EXPECT_DOUBLE_EQ(result->value, -(178.0 + 801.0) / 2);  // of rounds 1 and 4
  EXPECT_DOUBLE_EQ(result->interval->low, -801.0);
  EXPECT_DOUBLE_EQ(result->interval->high, -178.0);
  EXPECT_DOUBLE_EQ(result->interval->confidence, 0.5);
}

TEST(PairedMedian, HasTheMediansOfTheCommonRounds) {
  const std::vector<report::Sample> first{{1, 1, 1, 0}, {2, 2, 1, 1}, {9, 9, 1, 2}, {4, 4, 1, 3}};
  const std::vector<report::Sample> second{{8, 8, 1, 1}, {6, 6, 1, 2}, {7, 7, 1, 3}};
  const auto medians = [](std::span<const double>, std::span<const double> of_cases) {
    return 100 * of_cases[0] + of_cases[1];
  };
  const auto result = paired_median(std::vector<Samples>{first, second}, medians);
  ASSERT_TRUE(result.has_value());
  EXPECT_DOUBLE_EQ(result->value, 407.0);
  EXPECT_DOUBLE_EQ(result->interval->low, result->interval->high) << "the same in every round";
}

TEST(Summarise, TakesTheMediansOfLaunchesForUnits) {
  std::vector<report::Sample> samples;
  int round = 0;
  for (const auto& [process, seconds] :
       std::vector<std::pair<int, double>>{{0, 1}, {0, 1}, {0, 9}, {1, 5}, {2, 2}, {2, 4}}) {
    samples.push_back({seconds, seconds, 1, round++, process});
  }
  EXPECT_EQ(process_medians(samples), (std::vector{1.0, 5.0, 3.0}));
  const report::Statistics result = summarise(Samples(samples));
  EXPECT_DOUBLE_EQ(result.median, 3.0);
  EXPECT_DOUBLE_EQ(result.median_interval->low, 1.0);
  EXPECT_DOUBLE_EQ(result.median_interval->high, 5.0);
  EXPECT_DOUBLE_EQ(result.median_interval->confidence, 0.75) << "of three processes";
  EXPECT_DOUBLE_EQ(result.mean, 22.0 / 6) << "of all samples";
  EXPECT_DOUBLE_EQ(result.max, 9.0);
}

TEST(Summarise, ALaunchAloneHasNothingButItsSamples) {
  const std::vector<report::Sample> samples{{1, 1, 1, 0, 3}, {2, 2, 1, 1, 3}, {4, 4, 1, 2, 3}};
  EXPECT_EQ(summarise(Samples(samples)), summarise(seconds_of(samples)));
}

TEST(PairedRatio, IsTheMedianOfThatOfEachLaunch) {
  std::vector<report::Sample> baseline;
  std::vector<report::Sample> samples;
  int round = 0;
  for (const auto& [process, ratio] : std::vector<std::pair<int, double>>{
           {0, 2}, {0, 2}, {0, 8}, {1, 3}, {1, 3}, {1, 3}, {1, 3}, {1, 3}, {2, 4}}) {
    samples.push_back({1, 1, 1, round, process});
    baseline.push_back({ratio, ratio, 1, round++, process});
  }
  const auto ratio = paired_ratio(Samples(baseline), Samples(samples));
  ASSERT_TRUE(ratio.has_value());
  EXPECT_DOUBLE_EQ(ratio->value, 3.0);
  EXPECT_DOUBLE_EQ(ratio->interval->low, 2.0);
  EXPECT_DOUBLE_EQ(ratio->interval->high, 4.0);
  EXPECT_DOUBLE_EQ(ratio->interval->confidence, 0.75);
}

TEST(PairedMedian, NothingWithoutACommonRoundOrAFiniteValue) {
  const std::vector<report::Sample> first{{1, 1, 1, 0}};
  const std::vector<report::Sample> later{{0, 0, 1, 1}};
  const std::vector<report::Sample> same{{0, 0, 1, 0}};
  const auto ratio = [](std::span<const double> seconds, std::span<const double>) {
    return seconds[0] / seconds[1];
  };
  EXPECT_FALSE(paired_median(std::vector<Samples>{first, later}, ratio).has_value());
  EXPECT_FALSE(paired_median(std::vector<Samples>{first, same}, ratio).has_value());
}

TEST(PairedRatio, IsTheInverseWhereBothSidesAreExchanged) {
  const std::vector<double> baseline{7.51, 0.42};
  const std::vector<double> ones{1, 1};
  const auto ratio = paired_ratio(baseline, ones);
  const auto inverse = paired_ratio(ones, baseline);
  ASSERT_TRUE(ratio && inverse);
  EXPECT_DOUBLE_EQ(ratio->value, std::sqrt(7.51 * 0.42));
  EXPECT_DOUBLE_EQ(inverse->value, 1 / ratio->value);
  EXPECT_DOUBLE_EQ(ratio->interval->low, 0.42);
  EXPECT_DOUBLE_EQ(ratio->interval->high, 7.51);
  std::vector<report::Sample> first;
  std::vector<report::Sample> second;
  for (int process = 0; process < 2; ++process) {
    for (int round = 0; round < 2; ++round) {
      const int number = 2 * process + round;
      first.push_back({baseline[static_cast<std::size_t>(round)], 1, 1, number, process});
      second.push_back({process + 1.0, 1, 1, number, process});
    }
  }
  const double middle = std::sqrt(7.51 * 0.42) / std::sqrt(2);
  EXPECT_DOUBLE_EQ(paired_ratio(Samples(first), Samples(second))->value, middle)
      << "of processes, and of rounds in each";
}

TEST(PairedRatio, NothingWithoutPairsOrTime) {
  EXPECT_FALSE(paired_ratio(std::vector<double>{}, std::vector{1.0}).has_value());
  EXPECT_FALSE(paired_ratio(std::vector{1.0}, std::vector{0.0}).has_value());
}

}  // namespace
}  // namespace parbench
