// Samples on throttled devices: which are marked, how a case and its report list them, and how
// often devices are read.
#include "bench/sampling/conditions/conditions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/io/json.h"
#include "reports/statistics/conditions.h"
#include "reports/views/table.h"
#include "tests/bench/sampling/session_fixture.h"
#include "tests/scenarios/fake_device.h"
#include "tests/support/control_groups.h"
#include "tests/support/temporary_folder.h"

namespace parbench {
namespace {

using fake::FakeScenario;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> marks(const Condition& before, const Condition& after) {
  return sample_condition("cuda:0", before, after, {.seconds = 1})->throttled_by;
}

Condition clocked(double mhz) { return {.clock_mhz = mhz, .full_clock_mhz = 2000}; }

TEST(SampleCondition, HasTheLargerOfBothReadings) {
  const Condition before{.clock_mhz = 1500, .temperature_celsius = 41, .power_watts = 90};
  const Condition after{.clock_mhz = 1980, .temperature_celsius = 40, .power_watts = 310};
  const auto condition = sample_condition("cuda:0", before, after, {.seconds = 1});
  ASSERT_TRUE(condition.has_value());
  EXPECT_EQ(*condition, (report::SampleCondition{"cuda:0", 1980, 41, 310, {}}));
}

TEST(SampleCondition, IsAbsentOnADeviceWithoutSensors) {
  EXPECT_FALSE(sample_condition("cpu:0", {}, {}, {.seconds = 1}).has_value());
}

TEST(SampleCondition, IsMarkedForEveryReasonOfEitherReadingOnce) {
  const Condition before{.throttled_by = {"power cap"}};
  const Condition after{.throttled_by = {"temperature limit", "power cap"}};
  EXPECT_THAT(marks(before, after), ElementsAre("power cap", "temperature limit"));
}

TEST(SampleCondition, IsMarkedForCountersThatRoseMeanwhile) {
  const Condition before{.throttle_counters = {{"core temperature", 7}, {"power cap", 3}}};
  const Condition after{.throttle_counters = {{"core temperature", 8}, {"power cap", 3}, {"x", 1}}};
  EXPECT_THAT(marks(before, after), ElementsAre("core temperature"));
  EXPECT_THAT(marks(after, after), IsEmpty());
}

TEST(SampleCondition, IsMarkedBelowThreeQuartersOfTheFullClock) {
  EXPECT_THAT(marks(clocked(1490), clocked(1499)), ElementsAre("low clock"));
  EXPECT_THAT(marks(clocked(1000), clocked(1500)), IsEmpty()) << "75% is enough, in one reading";
  EXPECT_THAT(marks({.clock_mhz = 100}, {.clock_mhz = 100}), IsEmpty())
      << "nothing to compare with";
}

TEST(SampleCondition, AClockAtRestSaysNothing) {
  Condition resting = clocked(345);
  resting.resting = true;
  EXPECT_THAT(marks(resting, resting), IsEmpty());
  EXPECT_THAT(marks(resting, clocked(1200)), ElementsAre("low clock"));
}

TEST(SampleCondition, HasWhatTheSystemDidWithTheThreadsMeanwhile) {
  const Condition before{
      .threads = ThreadTimes{
          .threads = 4, .core_wait_seconds = 1, .kernel_seconds = 2, .page_faults = 100}};
  const Condition after{
      .threads = ThreadTimes{
          .threads = 4, .core_wait_seconds = 1.8, .kernel_seconds = 3.6, .page_faults = 700}};
  const auto use = sample_condition("cpu:0", before, after, {.seconds = 2})->threads;
  ASSERT_TRUE(use.has_value());
  EXPECT_NEAR(use->core_wait, 0.1, 1e-12) << "0.8 s in 2 s of four threads";
  EXPECT_NEAR(use->kernel, 0.2, 1e-12);
  EXPECT_DOUBLE_EQ(use->page_faults, 300) << "of all threads together";
  EXPECT_FALSE(sample_condition("cpu:0", {}, after, {.seconds = 2})->threads.has_value());
  EXPECT_FALSE(sample_condition("cpu:0", before, after, {.seconds = 0})->threads.has_value());
}

TEST(SampleCondition, HasWhatTheThreadsWereDeniedAndWhatOthersUsed) {
  const Condition before{.threads = ThreadTimes{.threads = 2}};
  const Condition after{.threads =
                            ThreadTimes{.threads = 2, .core_seconds = 6, .core_wait_seconds = 2}};
  const auto use = [&](const Between& between) {
    return *sample_condition("cpu:0", before, after, between)->threads;
  };
  EXPECT_NEAR(*use({.seconds = 10}).denied, 0.25, 1e-12) << "of 8 s that were wanted";
  EXPECT_FALSE(use({.seconds = 10}).others);
  EXPECT_NEAR(*use({.seconds = 10, .cores = 2, .others = 0.5}).others, 0.25, 1e-12);
  EXPECT_EQ(sample_condition("cpu:0", before, before, {.seconds = 1})->threads->denied, 0);
}

TEST(CaseCondition, HasTheMeanOverTheSamplesThatWereRead) {
  report::CaseResult measured;
  measured.samples.resize(3);
  measured.samples[0].conditions = {
      {.device = "cpu:0", .threads = report::ThreadUse{0.1, 0.2, 30, 0.4, -0.2}}};
  measured.samples[2].conditions = {
      {.device = "cpu:0", .threads = report::ThreadUse{0.3, 0, 10, 0.6, 0.8}}};
  report::summarise_conditions(measured);
  ASSERT_EQ(measured.conditions.size(), 1U);
  ASSERT_TRUE(measured.conditions[0].threads.has_value());
  EXPECT_DOUBLE_EQ(measured.conditions[0].threads->core_wait, 0.2);
  EXPECT_DOUBLE_EQ(measured.conditions[0].threads->kernel, 0.1);
  EXPECT_DOUBLE_EQ(measured.conditions[0].threads->page_faults, 20);
  EXPECT_DOUBLE_EQ(*measured.conditions[0].threads->denied, 0.5);
  EXPECT_DOUBLE_EQ(*measured.conditions[0].threads->others, 0.3) << "noise of ticks cancels";
}

TEST(ConditionWatch, ReadsTheUseOfCoresBelowItsRoot) {
  const test::TemporaryFolder folder;
  const auto set_busy = [&](double seconds) {
    std::string lines = "cpu  0 0 0 0 0 0 0 0 0 0\n";
    const std::vector<int> cores = report::cores_allowed();
    const double ticks =
        seconds * static_cast<double>(sysconf(_SC_CLK_TCK)) / static_cast<double>(cores.size());
    for (const int core : cores) {
      lines += fmt::format("cpu{} {:.0f} 0 0 0 0 0 0 0 0 0\n", core, ticks);
    }
    folder.write("proc/stat", lines);
  };
  test::FakeDevice device(0, 2);
  device.on_condition = [] { return Condition{.threads = ThreadTimes{.threads = 1}}; };
  const auto stream = device.make_stream(StreamKind::compute, 0, 1);
  Plan plan;
  static_cast<void>(plan.add_lane("compute", *stream));
  double clock = 0;
  ConditionWatch watch([&] { return clock; }, folder.path());
  set_busy(0);
  watch.before(plan);
  clock = 1000;
  set_busy(500);
  report::Sample sample;
  watch.after(sample);
  ASSERT_EQ(sample.conditions.size(), 1U);
  EXPECT_NEAR(sample.conditions[0].threads.value().others.value(), 0.25, 0.01)
      << "half a core of two, without the time of this process";
}

/// Threads of a device that wait for the core of others for a share of their time.
report::SampleCondition waiting(int threads, double share, double others) {
  return {.device = "cpu:0",
          .threads = report::ThreadUse{
              .core_wait = share, .denied = share, .others = others, .threads = threads}};
}

TEST(LoadCost, IsAsLargeAsIfThreadsWaitedOneAfterTheOther) {
  report::CaseResult measured;
  measured.samples.resize(2);
  measured.samples[0] = {.seconds = 1, .conditions = {waiting(2, 0.1, 0.5)}};
  measured.samples[1] = {.seconds = 2, .conditions = {waiting(2, 0.3, 0.5)}};
  report::summarise_conditions(measured);
  EXPECT_DOUBLE_EQ(report::load_cost(measured), 0.4) << "2 threads, 20% each";
  const auto samples = report::samples_without_load(measured);
  EXPECT_DOUBLE_EQ(samples[0].seconds, 0.8);
  EXPECT_DOUBLE_EQ(samples[1].seconds, 2 * 0.4);
}

TEST(LoadCost, CountsTheTimeOfThreadsThatWaitForTheSameCoreOnce) {
  report::CaseResult measured;
  measured.samples.resize(1);
  // 20 threads on 2 cores, of which other programs use 10%: each runs for 9% of the time.
  measured.samples[0] = {
      .seconds = 1,
      .conditions = {{.device = "cpu:0",
                      .threads = report::ThreadUse{
                          .core_wait = 0.36, .denied = 0.8, .others = 0.1, .threads = 20}}}};
  report::summarise_conditions(measured);
  EXPECT_NEAR(report::load_cost(measured), 0.2, 1e-12);
}

TEST(LoadCost, CountsNoWaitsForThreadsOfTheCaseOrAQuota) {
  report::CaseResult measured;
  measured.samples.resize(1);
  measured.samples[0] = {.seconds = 1, .conditions = {waiting(1, 0.4, 0.1)}};
  report::summarise_conditions(measured);
  EXPECT_DOUBLE_EQ(report::load_cost(measured), 0.1) << "other programs used no more";
  measured.samples[0].conditions = {waiting(1, 0.4, 0.9)};
  measured.samples[0].quota_lost = 0.3;
  measured.samples[0].wall_seconds = 1;
  report::summarise_conditions(measured);
  EXPECT_NEAR(report::load_cost(measured), 0.1, 1e-12);
  measured.samples[0].conditions = {waiting(8, 0.9, 0.9)};
  report::summarise_conditions(measured);
  EXPECT_DOUBLE_EQ(report::load_cost(measured), 0.99) << "never the whole time";
  measured.samples[0].conditions.clear();
  report::summarise_conditions(measured);
  EXPECT_DOUBLE_EQ(report::load_cost(measured), 0);
  EXPECT_DOUBLE_EQ(report::samples_without_load(measured)[0].seconds, 1);
}

TEST(CaseCondition, SumsUpEachDevice) {
  report::CaseResult measured;
  for (const double mhz : {1900.0, 1700.0, 1800.0}) {
    report::Sample& sample = measured.samples.emplace_back();
    sample.conditions = {{"cuda:0", mhz, mhz / 40, 300, {}}, {"cuda:1", {}, 50, {}, {}}};
  }
  report::summarise_conditions(measured);
  EXPECT_THAT(measured.conditions,
              ElementsAre(report::CaseCondition{"cuda:0", 1700, 1800, 47.5, 300},
                          report::CaseCondition{"cuda:1", {}, {}, 50, {}}));
  EXPECT_FALSE(measured.throttling.has_value());
}

TEST(CaseCondition, NamesTheMostFrequentReasonFirstAndCountsASampleOnce) {
  report::CaseResult measured;
  measured.samples.resize(4);  // the last was not read
  const auto on = [](const char* device, std::vector<std::string> reasons) {
    return report::SampleCondition{device, 1000, {}, {}, std::move(reasons)};
  };
  measured.samples[0].conditions = {on("cuda:0", {"power cap", "low clock"}),
                                    on("cuda:1", {"low clock"})};
  measured.samples[1].conditions = {on("cuda:0", {"low clock"})};
  measured.samples[2].conditions = {on("cuda:0", {})};
  report::summarise_conditions(measured);
  EXPECT_EQ(
      measured.throttling,
      (report::Throttling{
          2,
          3,
          true,
          {{"cuda:0", "low clock", 2}, {"cuda:0", "power cap", 1}, {"cuda:1", "low clock", 1}}}));
}

/// Sessions on a fake device whose condition the test scripts.
class ConditionsOfASession : public fake::SessionTest {
 protected:
  ConditionsOfASession() {
    auto device = std::make_unique<test::FakeDevice>(0);
    device->on_condition = [this] {
      ++readings;
      scenario.clock += reading_seconds;
      return condition;
    };
    devices.push_back(std::move(device));
    options.fixed_samples = 10;
    options.fixed_iterations = 1;
  }

  /// A case of one second an execution, during some of which a counter of throttles rises.
  void add(const std::string& strategy, const std::function<bool(int)>& throttled) {
    scenario.behaviours[strategy] = {.seconds =
                                         [this, throttled](int execution) {
                                           if (throttled(execution))
                                             ++condition.throttle_counters[0].count;
                                           return 1.0;
                                         },
                                     .devices = {0}};
  }

  Condition condition{.clock_mhz = 1980,
                      .full_clock_mhz = 1980,
                      .temperature_celsius = 45,
                      .throttle_counters = {{"power cap", 0}}};
  double reading_seconds = 0;
  int readings = 0;
};

TEST_F(ConditionsOfASession, MarkedSamplesAreKeptAndManyOfThemFlagTheCase) {
  add("base", [](int) { return false; });
  add("hot", [](int execution) { return execution % 2 == 0; });  // 0 is the verification run
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("hot")});
  EXPECT_THAT(result.cases[0].samples, SizeIs(10));
  EXPECT_FALSE(result.cases[0].throttling.has_value());
  EXPECT_THAT(result.cases[0].conditions,
              ElementsAre(report::CaseCondition{"fake:0", 1980, 1980, 45, std::nullopt}));
  EXPECT_THAT(result.cases[1].samples, SizeIs(10));
  EXPECT_TRUE(result.all_measured());
  EXPECT_EQ(result.cases[1].throttling,
            (report::Throttling{5, 10, true, {{"fake:0", "power cap", 5}}}));
  EXPECT_THAT(result.cases[1].samples[1].conditions.at(0).throttled_by, ElementsAre("power cap"));
  EXPECT_THAT(
      result.answer->warnings,
      ElementsAre("Careful: 1 of 2 cases ran on a throttled device (power cap on fake:0)."));
}

TEST_F(ConditionsOfASession, ATenthOfTheSamplesIsNoFlag) {
  add("base", [](int execution) { return execution == 4; });
  SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_EQ(result.cases[0].throttling,
            (report::Throttling{1, 10, false, {{"fake:0", "power cap", 1}}}));
  EXPECT_THAT(result.answer->warnings, IsEmpty());
}

TEST_F(ConditionsOfASession, ReachTheReportAndItsTable) {
  add("base", [](int) { return true; });
  report::Report written;
  written.started_utc = "2024-05-04T10:20:30Z";
  written.cases = run({FakeScenario::spec("base")}).cases;
  const report::Json json = report::to_json(written);
  const report::Json& only = json["parbench"]["cases"][0];
  EXPECT_EQ(only["samples"][0]["conditions"][0]["throttled_by"][0], "power cap");
  EXPECT_EQ(only["samples"][0]["conditions"][0]["clock_mhz"], 1980);
  EXPECT_FALSE(only["samples"][0]["conditions"][0].contains("power_watts"));
  EXPECT_EQ(only["throttling"]["flagged"], true);
  const report::Report read = report::from_json(json);
  EXPECT_EQ(read, written);
  EXPECT_THAT(report::to_table(read), HasSubstr("1.000 s§"));
}

/// Sessions in a group with a quota of half a core.
class QuotaOfASession : public ConditionsOfASession {
 protected:
  QuotaOfASession() {
    options.max_seconds = 1000;
    groups.make_job(0.5);
    system_root = groups.root();
  }

  /// A case each of whose executions uses a second of a core and lacks `withheld(execution)`.
  void add_limited(const std::string& strategy, const std::function<double(int)>& withheld) {
    scenario.behaviours[strategy] = {.seconds =
                                         [this, withheld](int execution) {
                                           const double waited = withheld(execution);
                                           core_time.used += 1;
                                           core_time.withheld += waited;
                                           groups.set_core_time(core_time.used, core_time.withheld);
                                           return 1 + waited;
                                         },
                                     .devices = {0}};
  }

  test::MadeControlGroups groups;
  CoreTime core_time{.used = 40, .withheld = 20};
};

TEST_F(QuotaOfASession, MarksTheCasesDuringWhichItWithheldTime) {
  add_limited("base", [](int) { return 0.0; });
  add_limited("slow", [](int execution) { return execution == 4 ? 15.0 : 0.0; });
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("slow")});
  const report::CaseResult& slow = result.cases[1];
  EXPECT_THAT(result.cases[0].samples, Each(Field(&report::Sample::quota_lost, 0.0)));
  EXPECT_EQ(result.cases[0].quota_lost, 0);
  EXPECT_THAT(slow.samples[2].quota_lost, testing::Optional(0.0));
  EXPECT_THAT(slow.samples[3].quota_lost, testing::Optional(testing::DoubleNear(0.9375, 1e-6)))
      << "execution 0 is the verification";
  EXPECT_NEAR(slow.quota_lost, 0.6, 1e-6) << "15 s of 25, in one sample of ten";
  EXPECT_FALSE(slow.throttling.has_value()) << "no device was";
  EXPECT_THAT(result.answer->warnings,
              ElementsAre("Careful: a CPU quota withheld up to 60% of the CPU time in 1 of 2 "
                          "cases; repeat without it (docker run without --cpus, systemd without "
                          "CPUQuota=), or with a larger one."));

  report::Report written;
  written.started_utc = "2024-05-04T10:20:30Z";
  written.machine.cpu_quota = 0.5;
  written.cases = result.cases;
  const report::Report read = report::from_json(report::to_json(written));
  EXPECT_EQ(read, written);
  const std::string text = report::to_table(read, {.width = 200});
  EXPECT_THAT(text, HasSubstr("CPU quota of 0.5 cores"));
  EXPECT_THAT(text, HasSubstr("\n§ throttled by a CPU quota (up to 60% of the CPU time)\n"));
  EXPECT_THAT(text, testing::ContainsRegex("slow +1.000 s§"));
  EXPECT_THAT(text, testing::ContainsRegex("base +1.000 s[^§]"));
}

TEST_F(QuotaOfASession, CountsFromOnePercentOn) {
  add_limited("base", [](int) { return 0.009; });
  add_limited("more", [](int) { return 0.0102; });
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("more")});
  EXPECT_NEAR(result.cases[0].quota_lost, 0.009 / 1.009, 1e-5);
  EXPECT_THAT(result.answer->warnings, ElementsAre(HasSubstr("in 1 of 2 cases;")));
}

TEST_F(QuotaOfASession, IsReadAroundEverySampleHoweverLongDevicesTake) {
  add_limited("base", [](int) { return 1.0; });
  reading_seconds = 5;
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_LT(readings, 20);
  EXPECT_THAT(
      result.cases[0].samples,
      Each(Field(&report::Sample::quota_lost, testing::Optional(testing::DoubleNear(0.5, 1e-6)))));
}

TEST_F(QuotaOfASession, IsNotReadWithoutOne) {
  groups.write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  add_limited("base", [](int) { return 3.0; });
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_THAT(result.cases[0].samples, Each(Field(&report::Sample::quota_lost, std::nullopt)));
  EXPECT_THAT(result.answer->warnings, IsEmpty());
}

TEST_F(ConditionsOfASession, AreThoseOfTheDevicesThatTheCaseUses) {
  add("base", [](int) { return true; });
  scenario.behaviours["base"].devices.clear();
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_EQ(readings, 0);
  EXPECT_THAT(result.cases[0].samples, Each(Field(&report::Sample::conditions, IsEmpty())));
}

TEST_F(ConditionsOfASession, AreReadOnceForStreamsOfOneDevice) {
  add("base", [](int) { return false; });
  scenario.behaviours["base"].devices = {0, 0};
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_EQ(readings, 20);
  EXPECT_THAT(result.cases[0].samples, Each(Field(&report::Sample::conditions, SizeIs(1))));
}

TEST_F(ConditionsOfASession, AreReadOfFewerSamplesWhereThatTakesLong) {
  add("base", [](int) { return false; });
  options.fixed_samples = 100;
  options.max_seconds = 1000;
  reading_seconds = 0.1;  // 0.2 s a sample: a fifth of it, where a fiftieth of the time is allowed
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_THAT(result.cases[0].samples, SizeIs(100));
  EXPECT_GE(readings, 2 * 9);
  EXPECT_LE(readings, 2 * 12);
  EXPECT_THAT(result.cases[0].conditions, SizeIs(1));
}

TEST_F(ConditionsOfASession, AreTimedByTheOwnClockWhereTheCommonOneStandsStill) {
  add("base", [](int) { return false; });
  options.fixed_samples = 100;
  options.max_seconds = 1000;
  reading_seconds = 0.1;
  // As over ranks, which meet after executions, not after readings.
  const CaseSpec base = FakeScenario::spec("base");
  const std::string execution = "run " + base.name();
  common_now = [&] { return static_cast<double>(scenario.count(execution)); };
  const SessionResult result = run({base});
  EXPECT_EQ(scenario.count(execution), 101U);
  EXPECT_THAT(result.cases[0].samples, SizeIs(100));
  EXPECT_LE(readings, 2 * 12);
  EXPECT_EQ(result.times.sampling, 101) << "all samples and the verification run";
  EXPECT_GE(result.times.preparation, readings / 2 * reading_seconds * 0.99) << "readings before";
}

TEST_F(ConditionsOfASession, AreNoPartOfTheTimeOfASample) {
  add("base", [](int) { return false; });
  reading_seconds = 5;
  const SessionResult result = run({FakeScenario::spec("base")});
  for (const report::Sample& sample : result.cases[0].samples) EXPECT_EQ(sample.seconds, 1);
  EXPECT_EQ(result.times.sampling, 11) << "ten samples and the verification run";
}

}  // namespace
}  // namespace parbench
