// How often E-divisive finds a step in noise, and how often it calls noise a step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "reports/dashboard/change_points.h"
#include "tests/reports/dashboard/noisy_series.h"

namespace parbench::report {
namespace {

using ::testing::SizeIs;

double flat(std::size_t /*i*/) { return 0; }

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

TEST(ChangePointsSimulation, FindsStepsWhereTheyAre) {
  EXPECT_EQ(found_steps(0.05), 200);  // five standard deviations
  EXPECT_GE(found_steps(0.03), 190);  // three: the values beside it may look like the other level
}

TEST(ChangePointsSimulation, FindsARiseThatIsTakenBack) {
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

TEST(ChangePointsSimulation, CallsNoiseAsOftenAsItSays) {
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

TEST(ChangePointsSimulation, CallsHeavyTailedNoiseNoMoreOften) {
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

TEST(ChangePointsSimulation, WeakStepsBetweenWindowsAreFoundAsOthersAre) {
  const int in_the_middle = mistaken_steps(200);
  EXPECT_LE(mistaken_steps(150), in_the_middle + 2);
  EXPECT_LE(mistaken_steps(250), in_the_middle + 2);
}

TEST(ChangePointsSimulation, WhatWasFoundDoesNotMoveAsTheSeriesGrows) {
  const auto level = [](std::size_t at) { return 0.04 * static_cast<double>(at / 90 % 2); };
  const std::vector<double> values = series(1000, level, 4);
  const auto all = change_points(values);
  const auto before = change_points(std::span(values).first(700));
  ASSERT_THAT(before, SizeIs(::testing::Ge(5U)));
  for (std::size_t i = 0; before[i] < 450; ++i) EXPECT_EQ(before[i], all[i]);
}

}  // namespace
}  // namespace parbench::report
