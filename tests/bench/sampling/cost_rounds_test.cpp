// When a session measures the tasks of its cases alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "bench/sampling/cost_rounds.h"
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
  for (const double slowness : {1.0, 4.0, 2.0}) {
    ASSERT_TRUE(rounds.due_after(1e9, 3 * slowness));
    rounds.add(1, {slowness, 2 * slowness});
  }
  EXPECT_EQ(rounds.costs(6), (std::vector<double>{2, 4}));
}

TEST(CostRounds, OfTwoQuotientsInTheMiddleTheLowerCounts) {
  CostRounds rounds;
  for (const double cost : {8.0, 2.0, 1.0, 4.0}) {
    ASSERT_TRUE(rounds.due_after(1e9, 1));
    rounds.add(1, {cost});
  }
  EXPECT_EQ(rounds.costs(1), std::vector<double>{2});
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
