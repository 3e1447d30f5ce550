// E-divisive against histories whose steps are known, and against noise.
#include "reports/dashboard/change_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace parbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Noise around levels: `level(i)` of value i.
std::vector<double> series(std::size_t count, const std::function<double(std::size_t)>& level,
                           std::uint64_t seed, double spread = 0.01) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> noise(0, spread);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(level(i) + noise(generator));
  return values;
}

double flat(std::size_t /*i*/) { return 0; }

bool is_near(std::size_t found, std::size_t wanted) {
  return found <= wanted + 1 && wanted <= found + 1;
}

TEST(ChangePoints, ShortAndConstantSeriesHaveNone) {
  EXPECT_THAT(change_points({}), IsEmpty());
  EXPECT_THAT(change_points(std::vector{1.0}), IsEmpty());
  EXPECT_THAT(change_points(std::vector{1.0, 1.0, 1.0, 2.0, 2.0, 2.0}), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>(1000, 3.0)), IsEmpty());
}

TEST(ChangePoints, FindsAStepWithoutNoise) {
  std::vector<double> values(60, 1.0);
  std::fill(values.begin() + 25, values.end(), 1.05);
  EXPECT_THAT(change_points(values), ElementsAre(25));
}

/// In how many of 200 histories a step at 40 of 80 is found within one report.
int found_steps(double step) {
  int near = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto level = [=](std::size_t at) { return at < 40 ? 0 : step; };
    const auto found = change_points(series(80, level, seed));
    near += std::ranges::any_of(found, [](std::size_t at) { return is_near(at, 40); }) ? 1 : 0;
  }
  return near;
}

TEST(ChangePoints, FindsStepsWhereTheyAre) {
  EXPECT_EQ(found_steps(0.05), 200);  // five standard deviations
  EXPECT_GE(found_steps(0.03), 190);  // three: the values beside it may look like the other level
}

TEST(ChangePoints, FindsARiseThatIsTakenBack) {
  int both = 0;
  int more = 0;
  constexpr int histories = 40;
  for (std::uint64_t seed = 0; seed < histories; ++seed) {
    const auto level = [](std::size_t at) { return at >= 100 && at < 108 ? 0.05 : 0.0; };
    const auto found = change_points(series(200, level, seed));
    const auto has = [&](std::size_t wanted) {
      return std::ranges::any_of(found, [=](std::size_t at) { return is_near(at, wanted); });
    };
    both += has(100) && has(108) ? 1 : 0;
    more += found.size() > 2 ? 1 : 0;
  }
  EXPECT_EQ(both, histories);
  EXPECT_LE(more, 4);  // three segments without a change, each with 1%: 1.2 of 40
}

TEST(ChangePoints, FindsANewLevelFromItsThirdReportOn) {
  const auto level = [](std::size_t at) { return at < 27 ? 0 : 0.05; };
  EXPECT_THAT(change_points(series(29, level, 3)), IsEmpty());
  EXPECT_THAT(change_points(series(30, level, 3)), ElementsAre(27));
}

TEST(ChangePoints, CallsNoiseAsOftenAsItSays) {
  int called = 0;
  constexpr int histories = 1000;
  for (int i = 0; i < histories; ++i) {
    called +=
        change_points(series(60, flat, 1000U + static_cast<std::uint64_t>(i))).empty() ? 0 : 1;
  }
  // 1% of 1000 is 10, its standard deviation 3.1.
  EXPECT_LE(called, 20);
  EXPECT_GE(called, 1);
}

TEST(ChangePoints, CallsHeavyTailedNoiseNoMoreOften) {
  int called = 0;
  std::mt19937_64 generator(5);
  std::student_t_distribution<double> noise(2);
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 40; ++k) values.push_back(noise(generator));
    called += change_points(values).empty() ? 0 : 1;
  }
  EXPECT_LE(called, 20);
}

TEST(ChangePoints, DoesNotDependOnTheUnit) {
  const auto level = [](std::size_t at) { return at < 30 ? 0 : 0.03; };
  std::vector<double> values = series(70, level, 9);
  const auto found = change_points(values);
  for (double& value : values) value = 1000 * value + 7;
  EXPECT_EQ(change_points(values), found);
  EXPECT_THAT(found, SizeIs(1));
}

TEST(ChangePoints, LongSeriesAreSearchedInWindowsThatOwnTheirMiddle) {
  const auto level = [](std::size_t at) { return 0.05 * static_cast<double>(at / 137 % 2); };
  const auto found = change_points(series(1500, level, 2));
  ASSERT_THAT(found, SizeIs(1499 / 137));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(is_near(found[i], 137 * (i + 1))) << found[i];
  }
}

TEST(ChangePoints, StepsNearBothEndsAreFoundWhateverTheLength) {
  const std::size_t window = ChangePointParameters{}.window;
  for (const std::size_t count : {window - 1, window, window + 1, window + window / 2 - 1,
                                  window + window / 2, window + window / 2 + 1, 2 * window}) {
    std::vector<double> values(count, 1.0);
    std::fill(values.begin() + 10, values.end(), 2.0);
    std::fill(values.end() - 10, values.end(), 3.0);
    EXPECT_THAT(change_points(values), ElementsAre(10, count - 10)) << count;
  }
}

/// Another order of permutations would decide differently where p is near the limit.
TEST(ChangePoints, AreTheSameOnEveryMachine) {
  std::mt19937_64 generator(12);  // its numbers are fixed by the standard
  int called = 0;
  std::size_t sum_of_places = 0;
  for (int history = 0; history < 400; ++history) {
    std::vector<double> values;
    for (int i = 0; i < 24; ++i) {
      values.push_back(static_cast<double>(generator() >> 11U) * 0x1p-53 + (i < 12 ? 0 : 0.4));
    }
    const std::vector<std::size_t> places = change_points(values);
    called += places.empty() ? 0 : 1;
    sum_of_places = std::accumulate(places.begin(), places.end(), sum_of_places);
  }
  EXPECT_EQ(called, 108);
  EXPECT_EQ(sum_of_places, 1382U);
}

/// In how many of 120 histories of 400 a weak step is called not at all, or in two parts.
int mistaken_steps(std::size_t step) {
  int mistaken = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const auto level = [=](std::size_t at) { return at < step ? 0 : 0.035; };
    const auto found = change_points(series(400, level, seed, 0.03));
    const auto beside = std::ranges::count_if(
        found, [=](std::size_t at) { return at + 25 > step && at < step + 25; });
    mistaken += beside == 1 ? 0 : 1;
  }
  return mistaken;
}

TEST(ChangePoints, WeakStepsBetweenWindowsAreFoundAsOthersAre) {
  const int in_the_middle = mistaken_steps(200);
  EXPECT_LE(mistaken_steps(150), in_the_middle + 2);
  EXPECT_LE(mistaken_steps(250), in_the_middle + 2);
}

TEST(ChangePoints, WhatWasFoundDoesNotMoveAsTheSeriesGrows) {
  const auto level = [](std::size_t at) { return 0.04 * static_cast<double>(at / 90 % 2); };
  const std::vector<double> values = series(1000, level, 4);
  const auto all = change_points(values);
  const auto before = change_points(std::span(values).first(700));
  ASSERT_THAT(before, SizeIs(::testing::Ge(5U)));
  for (std::size_t i = 0; before[i] < 450; ++i) EXPECT_EQ(before[i], all[i]);
}

TEST(ChangePoints, AStricterTestFindsLess) {
  const auto level = [](std::size_t at) { return at < 17 ? 0 : 0.05; };
  const std::vector<double> values = series(20, level, 6);
  EXPECT_THAT(change_points(values), SizeIs(1));
  EXPECT_THAT(change_points(values, {.significance = 0.0001, .permutations = 99}), IsEmpty());
}

}  // namespace
}  // namespace parbench::report
