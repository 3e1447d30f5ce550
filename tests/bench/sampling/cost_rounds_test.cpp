// When a session measures the tasks of its cases alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/sampling/cost_rounds.h"
#include "reports/statistics/statistics.h"
#include "tests/bench/sampling/session_fixture.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

using fake::FakeScenario;

class CostRoundsTest : public fake::SessionTest {};

/// Numbers of rounds of measuring tasks that came before each sample of a case.
std::vector<int> rounds_before_samples(const fake::Log& log, const std::string& name) {
  std::vector<int> rounds;
  int count = 0;
  for (const std::string& event : log) {
    if (event == "costs " + name) ++count;
    if (event == "run " + name) rounds.push_back(count);
  }
  return rounds;
}

TEST(CostRounds, CostsAreRelativeToTheExecutionBesideThem) {
  CostRounds rounds;
  for (const double slowness : {1.0, 1.25, 1.125}) {
    ASSERT_TRUE(rounds.due_after(1e9, 4 * slowness));
    rounds.add(1, {slowness, 2 * slowness});
  }
  EXPECT_EQ(rounds.costs(4.5), (std::vector<double>{1.125, 2.25}));
}

TEST(CostRounds, AnExecutionThatWasDisturbedDoesNotCount) {
  for (const double disturbed : {10.0, 1.4}) {
    CostRounds rounds;
    ASSERT_TRUE(rounds.due_after(1e9, disturbed));
    rounds.add(1, {0.9});
    ASSERT_TRUE(rounds.due_after(1e9, 1));
    rounds.add(1, {0.9});
    EXPECT_EQ(rounds.costs(1), std::vector<double>{0.9}) << disturbed;
  }
}

TEST(CostRounds, WithoutACloseExecutionATypicalOneCounts) {
  CostRounds rounds;
  ASSERT_TRUE(rounds.due_after(1e9, 1.25));
  rounds.add(1, {1});
  EXPECT_EQ(rounds.costs(1), std::vector<double>{0.8});
}

TEST(CostRounds, WithoutATypicalExecutionThereAreNoCosts) {
  for (const double other : {0.5, 2.0}) {
    CostRounds rounds;
    ASSERT_TRUE(rounds.due_after(1e9, other));
    rounds.add(1, {0.9});
    EXPECT_EQ(rounds.costs(1), std::nullopt) << other;
  }
}

TEST(CostRounds, AreNotDueBesideADisturbedExecution) {
  CostRounds rounds;
  ASSERT_TRUE(rounds.due_after(1e9, 1));
  rounds.add(1, {1});
  EXPECT_FALSE(rounds.due_after(1e9, 2));
  EXPECT_FALSE(rounds.due_after(1e9, 0.5));
  EXPECT_TRUE(rounds.due_after(1e9, 1.25));
}

TEST(CostRounds, ThoseBesideDisturbedExecutionsAreReplacedInTheirShare) {
  CostRounds rounds;
  ASSERT_TRUE(rounds.due_after(1, 10));
  rounds.add(1, {1});
  int until_second = 0;
  while (!rounds.due_after(1, 1)) ++until_second;
  EXPECT_EQ(until_second, 3) << "none is typical: one and a half of 0.3 a sample";
  rounds.add(1, {1});
  EXPECT_EQ(rounds.costs(1), std::vector<double>{1});
}

TEST(CostRounds, OfTwoQuotientsInTheMiddleTheLowerCounts) {
  CostRounds rounds;
  for (const double cost : {8.0, 2.0, 1.0, 4.0}) {
    ASSERT_TRUE(rounds.due_after(1e9, 1));
    rounds.add(1, {cost});
  }
  EXPECT_EQ(rounds.costs(1), std::vector<double>{2});
}

TEST(CostRounds, CostsOfDisturbedCasesAreCloseOrMissing) {
  constexpr double cost = 0.9;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> share(0, 1);
  int known = 0;
  for (int run = 0; run < 500; ++run) {
    CostRounds rounds;
    std::vector<double> executions;
    for (int sample = 0; sample < 3 + run % 10; ++sample) {
      const bool is_disturbed = share(random) < 0.3;
      executions.push_back(is_disturbed ? 1 + 10 * share(random) : 0.97 + 0.06 * share(random));
      if (rounds.due_after(1, executions.back())) rounds.add(1, {cost});
    }
    const double middle = median(executions);
    const auto costs = rounds.costs(middle);
    if (!costs || middle > 1.1) continue;  // most executions were disturbed
    ++known;
    EXPECT_GT(costs->front(), cost / 1.5) << run;
    EXPECT_LT(costs->front(), 1.02 * middle) << run;
  }
  EXPECT_GT(known, 300);
}

TEST(CostRounds, WhatWasMeasuredAheadOfSamplesCountsOnlyAlone) {
  CostRounds rounds;
  EXPECT_TRUE(rounds.empty());
  rounds.add(1, {7});
  EXPECT_FALSE(rounds.empty());
  EXPECT_EQ(rounds.costs(100), std::vector<double>{7});
  ASSERT_TRUE(rounds.due_after(10, 1));
  rounds.add(1, {3});
  EXPECT_EQ(rounds.costs(1), std::vector<double>{3});
}

TEST(CostRounds, AreNotDueAfterAnExecutionWithoutATime) {
  CostRounds rounds;
  EXPECT_FALSE(rounds.due_after(1e9, 0));
  EXPECT_FALSE(rounds.due_after(1e9, -1));
  EXPECT_TRUE(rounds.due_after(1, 1));
}

TEST(CostRounds, TakeAShareOfTheTimeTwiceAsMuchUntilTheSecondAndAreAtMostAHundred) {
  CostRounds rounds;
  int taken = 0;
  const auto take = [&] {
    ++taken;
    rounds.add(1, {1});
  };
  std::vector<int> samples;  // before each round
  for (int sample = 1; sample <= 100; ++sample) {
    if (!rounds.due_after(1, 1)) continue;
    samples.push_back(sample);
    take();
  }
  EXPECT_EQ(samples[0], 1);
  EXPECT_EQ(samples[1], 5) << "one and a half of 0.3 a sample";
  EXPECT_EQ(samples[2], 17) << "two and a half of 0.15 a sample";
  EXPECT_EQ(taken, 15);
  while (rounds.due_after(1e9, 1) && taken < 1000) take();
  EXPECT_EQ(taken, 100);
}

TEST_F(CostRoundsTest, TheirTimeCountsAgainstThatOfAllCases) {
  options.total_seconds = 50;
  options.precision = 0;
  scenario.behaviours["base"] = {.cost_seconds = 5};
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_GT(result.times.task_costs, 0);
  EXPECT_DOUBLE_EQ(result.times.task_costs,
                   5 * static_cast<double>(scenario.count("costs fake/base/n:1")));
  EXPECT_LE(result.times.sampling + result.times.task_costs, 50);
}

TEST_F(CostRoundsTest, TasksAreMeasuredBetweenSamples) {
  options.fixed_samples = 20;
  options.max_seconds = std::numeric_limits<double>::infinity();
  scenario.behaviours["base"] = {.cost_seconds = 1};
  const SessionResult result = run({FakeScenario::spec("base")});
  ASSERT_EQ(result.cases[0].samples.size(), 20U);
  EXPECT_DOUBLE_EQ(result.times.task_costs, 1 + 3) << "once before, then 15% of 20 s";
  const std::vector<int> rounds = rounds_before_samples(scenario.log, "fake/base/n:1");
  EXPECT_GT(rounds.at(10), 1);
  EXPECT_GT(rounds.back(), rounds.at(10)) << "spread over the samples";
}

TEST_F(CostRoundsTest, LongCasesOnDevicesThatLoadNothingAreMeasuredAfterTheFirstSample) {
  for (const double seconds : {1.0, 0.01}) {
    scenario.log.clear();
    devices = fake::make_devices(backends);
    dynamic_cast<test::FakeDevice&>(*devices.front()).slow_first_use = false;
    options.min_sample_seconds = 0;
    options.fixed_samples = 3;
    scenario.behaviours["base"] = {.seconds = [&](int) { return seconds; },
                                   .cost_seconds = seconds};
    const SessionResult result = run({FakeScenario::spec("base")});
    EXPECT_TRUE(result.cases[0].bound.has_value());
    const int before_samples = rounds_before_samples(scenario.log, "fake/base/n:1").at(1);
    EXPECT_EQ(before_samples, seconds == 1 ? 0 : 1) << seconds;
    EXPECT_EQ(scenario.count("costs fake/base/n:1"), seconds == 1 ? 1U : 2U) << seconds;
  }
}

TEST_F(CostRoundsTest, ADisturbedSampleDoesNotLowerTheBound) {
  options.fixed_samples = 10;
  options.max_seconds = std::numeric_limits<double>::infinity();
  scenario.behaviours["base"] = {.seconds = [](int i) { return i == 1 ? 14.0 : 1.0; },
                                 .task_seconds = {0.9},
                                 .cost_seconds = 1};
  const SessionResult result = run({FakeScenario::spec("base")});
  ASSERT_TRUE(result.cases[0].bound.has_value());
  EXPECT_DOUBLE_EQ(result.cases[0].efficiency, 0.9);
}

TEST_F(CostRoundsTest, ThereIsNoBoundWhereTasksWereMeasuredOnlyBesideADisturbedSample) {
  devices = fake::make_devices(backends);
  dynamic_cast<test::FakeDevice&>(*devices.front()).slow_first_use = false;
  options.fixed_samples = 5;
  options.max_seconds = std::numeric_limits<double>::infinity();
  scenario.behaviours["base"] = {.seconds = [](int i) { return i == 1 ? 14.0 : 1.0; },
                                 .task_seconds = {0.9},
                                 .cost_seconds = 50};
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_EQ(scenario.count("costs fake/base/n:1"), 1U);
  EXPECT_FALSE(result.cases[0].bound.has_value());
}

TEST_F(CostRoundsTest, TasksAreMeasuredOnceForAProfiler) {
  options.for_profiler = true;
  scenario.behaviours["base"] = {.cost_seconds = 1e-3};
  (void)run({FakeScenario::spec("base")});
  EXPECT_EQ(scenario.count("costs fake/base/n:1"), 1U);
}

TEST_F(CostRoundsTest, MeasuringTasksLeavesNothingToSampleOn) {
  scenario.behaviours["base"] = {};
  (void)run({FakeScenario::spec("base")});
  const auto costs = std::ranges::find(scenario.log, "costs fake/base/n:1");
  ASSERT_NE(costs, scenario.log.end());
  EXPECT_EQ(*(costs + 1), "reset fake/base/n:1");
}

}  // namespace
}  // namespace parbench
