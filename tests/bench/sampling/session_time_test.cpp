// Sessions whose time is short, and what their time goes into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "bench/sampling/session/session.h"
#include "reports/model/notes.h"
#include "tests/bench/sampling/session_fixture.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

using fake::FakeScenario;
using fake::SessionTest;
using testing::ElementsAre;
using testing::SizeIs;

class SessionTimes : public SessionTest {};

class ShortSession : public SessionTest {
 protected:
  SessionResult run_three() {
    for (const char* strategy : {"base", "second", "third"}) scenario.behaviours[strategy] = {};
    return run(
        {FakeScenario::spec("base"), FakeScenario::spec("second"), FakeScenario::spec("third")});
  }
  static void expect_left_out(const report::CaseResult& one) {
    EXPECT_EQ(one.status, report::CaseStatus::not_run);
    EXPECT_TRUE(report::is_left_out_of_time(one));
    EXPECT_EQ(one.error, "out of time");
  }
};

TEST_F(ShortSession, LeavesOutTheCasesThatCouldNotGetTwoSamples) {
  options.total_seconds = 6;
  const SessionResult result = run_three();
  EXPECT_LE(scenario.clock, 6);
  EXPECT_THAT(result.cases[0].samples, SizeIs(2));
  EXPECT_THAT(result.cases[1].samples, SizeIs(2));
  expect_left_out(result.cases[2]);
  EXPECT_EQ(scenario.count("prepare fake/third/n:1"), 0U);
  EXPECT_THAT(progress.notes, ElementsAre("fake/third/n:1 not measured: out of time"));
  EXPECT_TRUE(result.all_measured()) << "as far as the time of the run sufficed";
  EXPECT_TRUE(result.answer.has_value());
}

TEST_F(ShortSession, ComparesSomeSettingsRatherThanNone) {
  options.total_seconds = 6;
  for (const char* strategy : {"base", "second"}) scenario.behaviours[strategy] = {};
  const SessionResult result =
      run({FakeScenario::spec("base", 1), FakeScenario::spec("base", 2),
           FakeScenario::spec("second", 1), FakeScenario::spec("second", 2)});
  ASSERT_TRUE(result.cases[2].speedup.has_value());
  EXPECT_DOUBLE_EQ(result.cases[2].speedup->value, 1);
  expect_left_out(result.cases[1]);
  expect_left_out(result.cases[3]);
}

TEST_F(ShortSession, ComparesSettingsBeforeItMeasuresCasesWithoutBaseline) {
  options.total_seconds = 6;
  for (const char* strategy : {"base", "second"}) scenario.behaviours[strategy] = {};
  const SessionResult result = run({FakeScenario::spec("second", 3), FakeScenario::spec("base", 1),
                                    FakeScenario::spec("second", 1)});
  EXPECT_TRUE(result.cases[2].speedup.has_value());
  expect_left_out(result.cases[0]);
}

TEST_F(ShortSession, LeavesOutPreparedCasesThatGotNoSample) {
  options.total_seconds = 18;
  for (const char* strategy : {"base", "slow", "other"}) {
    scenario.behaviours[strategy] = {.seconds = [](int i) { return i == 0 ? 2.0 : 7.0; }};
  }
  const SessionResult result =
      run({FakeScenario::spec("base"), FakeScenario::spec("slow"), FakeScenario::spec("other")});
  ASSERT_EQ(scenario.count("prepare fake/other/n:1"), 1U);
  EXPECT_THAT(result.cases[0].samples, SizeIs(1)) << "the baseline comes first";
  const bool is_slow = !result.cases[1].samples.empty();
  EXPECT_TRUE(result.cases[is_slow ? 1 : 2].speedup.has_value()) << "the first pair is completed";
  expect_left_out(result.cases[is_slow ? 2 : 1]);
}

/// The first scenarios of a run leave time that they cannot use to the ones after them.
TEST_F(ShortSession, TakesNoSampleOfACaseThatCannotBeComparedWhereOthersCanUseTheTime) {
  options.total_seconds = 6;
  scenario.behaviours["base"] = {};
  scenario.behaviours["second"] = {.on_prepare = [this] { scenario.clock += 4; }};
  run_part = {.index = 0, .count = 2};
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("second")});
  expect_left_out(result.cases[0]);
  expect_left_out(result.cases[1]);
  ASSERT_TRUE(result.answer.has_value());
  EXPECT_EQ(result.answer->text,
            "Not decided: no time for any of 2 cases; a longer --max-total-time measures them.");
  EXPECT_EQ(result.answer->question, scenario.question());
}

TEST_F(ShortSession, APreparationThatTakesTooLongEndsBetweenItsSteps) {
  options.total_seconds = 6;
  scenario.behaviours["base"] = {.on_prepare = [this] { scenario.clock += 7; }};
  const SessionResult result = run({FakeScenario::spec("base")});
  expect_left_out(result.cases[0]);
  EXPECT_EQ(scenario.count("run fake/base/n:1"), 0U);
  EXPECT_FALSE(result.any_measured());
}

TEST_F(ShortSession, KeepsTimeForPreparedCasesFromALongPreparation) {
  options.total_seconds = 6;
  scenario.behaviours["base"] = {};
  scenario.behaviours["second"] = {.on_prepare = [this] { scenario.clock += 4; }};
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("second")});
  EXPECT_THAT(result.cases[0].samples, SizeIs(testing::Ge(1U)));
  expect_left_out(result.cases[1]);
  EXPECT_EQ(scenario.count("run fake/second/n:1"), 0U);
}

TEST_F(ShortSession, PrefersSamplesToTimelines) {
  on_timeline = [](const report::CaseResult&, const Timeline&) { FAIL() << "no time for it"; };
  options.total_seconds = 4;
  scenario.behaviours["base"] = {};
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_THAT(result.cases[0].samples, SizeIs(3));
  EXPECT_FALSE(result.cases[0].profile.has_value());
  EXPECT_EQ(report::reason_without_profile(result.cases[0]), "out of time");
  EXPECT_LE(scenario.clock, 4);
}

TEST_F(ShortSession, HasTimelinesThoughSamplesEndLateAndTakeLonger) {
  on_timeline = [](const report::CaseResult&, const Timeline&) {};
  options.total_seconds = 100;
  options.max_seconds = std::numeric_limits<double>::infinity();
  options.precision = 0;
  std::vector<CaseSpec> specs;
  for (const char* strategy : {"base", "b", "c", "d", "e", "f"}) {
    scenario.behaviours[strategy] = {.seconds = [](int i) { return 1 + 0.01 * i; },
                                     .recorded_seconds = [](int) { return 1.4; }};
    specs.push_back(FakeScenario::spec(strategy));
  }
  const SessionResult result = run(specs);
  for (const report::CaseResult& one : result.cases) {
    EXPECT_TRUE(one.profile.has_value()) << report::reason_without_profile(one);
    EXPECT_GE(one.samples.size(), 10U);
  }
  EXPECT_LE(scenario.clock, 100);
}

TEST_F(ShortSession, PrefersSamplesToBounds) {
  scenario.behaviours["base"] = {.task_seconds = {1.0}, .cost_seconds = 1};
  const auto task_costs_within = [&](double total_seconds) {
    devices = fake::make_devices(backends);
    dynamic_cast<test::FakeDevice&>(*devices.front()).slow_first_use = false;
    options.total_seconds = total_seconds;
    return run({FakeScenario::spec("base")}).times.task_costs;
  };
  EXPECT_EQ(task_costs_within(4.5), 0);
  EXPECT_EQ(task_costs_within(5.5), 1) << "as there is time for three samples as well";
}

TEST_F(SessionTimes, AccountsForAllOfItsTime) {
  scenario.reference_strategy = "elsewhere";
  scenario.behaviours["elsewhere"] = {.seconds = [](int) { return 30.0; }};
  scenario.behaviours["base"] = {
      .on_prepare = [this] { scenario.clock += 4; }, .task_seconds = {1.0}, .cost_seconds = 0.5};
  on_timeline = [](const report::CaseResult&, const Timeline&) {};
  const PhaseTimes times = run({FakeScenario::spec("base")}).times;
  EXPECT_DOUBLE_EQ(times.verification, 30);
  EXPECT_DOUBLE_EQ(times.preparation, 4);
  EXPECT_DOUBLE_EQ(times.sampling, 7);
  EXPECT_GT(times.task_costs, 0);
  EXPECT_DOUBLE_EQ(times.task_costs,
                   0.5 * static_cast<double>(scenario.count("costs fake/base/n:1")));
  EXPECT_GT(times.profiling, 0);
  EXPECT_NEAR(times.profiling, scenario.clock - 30 - 4 - 7 - times.task_costs, 1e-9);
  EXPECT_NEAR(times.sum(), scenario.clock, 1e-9);
}

TEST_F(ShortSession, TheTimeOfTheRunEndsTheMeasurementOfTasks) {
  options.total_seconds = 10;
  scenario.behaviours["base"] = {
      .seconds = [](int) { return 0.05; }, .task_seconds = {0.05}, .cost_seconds = 9.99};
  scenario.behaviours["second"] = {};
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("second")});
  EXPECT_FALSE(result.interrupted) << "its user did not interrupt it";
  EXPECT_FALSE(result.cases[0].bound.has_value());
  expect_left_out(result.cases[1]);
}

TEST_F(ShortSession, TheTimeOfTheRunEndsMeasurementsThatAPlanDependsOn) {
  options.total_seconds = 10;
  scenario.behaviours["base"] = {};
  scenario.behaviours["second"] = {.on_prepare = [this] { scenario.clock += 20; }};
  scenario.checks_time = true;
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("second")});
  expect_left_out(result.cases[1]);
  EXPECT_EQ(scenario.count("prepared fake/second/n:1"), 0U);
  EXPECT_EQ(scenario.count("prepared fake/base/n:1"), 1U);
}

}  // namespace
}  // namespace parbench
