// The profiling pass: it keeps the samples of a case, however its recording ends.
#include "bench/sampling/profiling_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/sampling/preparation.h"
#include "kernels/base/error.h"
#include "tests/bench/sampling/session_fixture.h"

namespace parbench {
namespace {

using fake::FakeScenario;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

/// Cases "first", "middle" and "last" of backend "gpu", and "beside" of backend "host".
class ProfilingPassTest : public fake::SessionTest {
 protected:
  ProfilingPassTest() {
    backends = {"gpu", "host"};
    for (const char* strategy : {"first", "middle", "last"}) scenario.behaviours[strategy] = {};
    scenario.behaviours["beside"].devices = {1};
    options.fixed_samples = 3;
    on_timeline = [this](const report::CaseResult& one, const Timeline&) {
      kept.push_back(one.strategy);
    };
  }

  void fail_to_record(std::function<void()> failure) {
    scenario.behaviours["middle"].recorded_seconds = [failure = std::move(failure)](int) {
      failure();
      return 1.0;
    };
  }

  SessionResult run_profiling() {
    SessionResult result = run({FakeScenario::spec("first"), FakeScenario::spec("middle"),
                                FakeScenario::spec("last"), FakeScenario::spec("beside")});
    expect_samples(result);
    return result;
  }

  static void expect_samples(const SessionResult& result) {
    for (const report::CaseResult& one : result.cases) {
      EXPECT_EQ(one.status, report::CaseStatus::measured) << one.name;
      EXPECT_THAT(one.samples, SizeIs(3)) << one.name;
      ASSERT_TRUE(one.statistics.has_value()) << one.name;
      EXPECT_DOUBLE_EQ(one.statistics->median, 1) << one.name;
      EXPECT_EQ(one.stopped_because, "fixed count") << one.name;
      EXPECT_THAT(one.error, IsEmpty()) << one.name;
    }
  }

  /// A note instead of a profile, and the other cases as if nothing had been.
  void expect_only_middle_lacks_profile(const SessionResult& result, const std::string& reason) {
    EXPECT_FALSE(result.cases[1].profile.has_value());
    EXPECT_THAT(result.cases[1].notes, Contains(Pair("no timeline", reason)));
    EXPECT_THAT(kept, ElementsAre("first", "last", "beside"));
    for (const std::size_t other : {0U, 2U, 3U}) expect_profile(result.cases[other]);
    EXPECT_TRUE(result.all_measured());
  }

  static void expect_profile(const report::CaseResult& one) {
    ASSERT_TRUE(one.profile.has_value()) << one.name;
    EXPECT_DOUBLE_EQ(one.profile->metrics.span, 1) << one.name;
    EXPECT_THAT(one.notes, Not(Contains(Pair("no timeline", testing::_)))) << one.name;
  }

  [[nodiscard]] std::ptrdiff_t count_after_first_record(const std::string& event) const {
    const auto first_record = std::ranges::find(scenario.log, "record fake/first/n:1");
    return std::count(first_record, scenario.log.end(), event);
  }

  std::vector<std::string> kept;  // strategies
};

TEST_F(ProfilingPassTest, ProfilesEachCaseAfterAllSamples) {
  const SessionResult result = run_profiling();
  EXPECT_THAT(kept, ElementsAre("first", "middle", "last", "beside"));
  for (const report::CaseResult& one : result.cases) expect_profile(one);
  EXPECT_EQ(count_after_first_record("run fake/last/n:1"), 0) << "no sample follows a recording";
  EXPECT_EQ(count_after_first_record("record fake/last/n:1"), 1);
}

TEST_F(ProfilingPassTest, ProfilesNothingWithoutASinkForTimelines) {
  on_timeline = {};
  for (const report::CaseResult& one : run_profiling().cases) EXPECT_FALSE(one.profile.has_value());
  EXPECT_EQ(scenario.count("record fake/first/n:1"), 0U);
}

TEST_F(ProfilingPassTest, NotesADeviceWithoutTimes) {
  fail_to_record([] { throw Unsupported("no clock here"); });
  expect_only_middle_lacks_profile(run_profiling(), "no clock here");
}

TEST_F(ProfilingPassTest, RunsNothingOnADeviceKnownToHaveNoTimes) {
  scenario.behaviours["middle"].on_check_recording = [] { throw Unsupported("no clock here"); };
  expect_only_middle_lacks_profile(run_profiling(), "no clock here");
  for (const std::string event : {"reset", "run", "record"}) {
    EXPECT_EQ(count_after_first_record(event + " fake/middle/n:1"), 0) << event;
  }
  EXPECT_EQ(count_after_first_record("reset fake/last/n:1"), 1);
}

TEST_F(ProfilingPassTest, NotesWhatAWorkerThrows) {
  fail_to_record([] { throw std::runtime_error("kernel failed"); });
  expect_only_middle_lacks_profile(run_profiling(), "kernel failed");
}

TEST_F(ProfilingPassTest, NotesWhatIsNoException) {
  fail_to_record([] { throw 7; });
  expect_only_middle_lacks_profile(run_profiling(), "an exception that is not a std::exception");
}

TEST_F(ProfilingPassTest, NotesThatTheHostHasNoMemory) {
  fail_to_record([] { throw std::bad_alloc(); });
  expect_only_middle_lacks_profile(run_profiling(), "out of memory on the host");
}

TEST_F(ProfilingPassTest, EndsWithADeviceThatIsLost) {
  fail_to_record([] { throw DeviceLost("gpu", "it fell off"); });
  const SessionResult result = run_profiling();
  expect_profile(result.cases[0]);
  EXPECT_THAT(result.cases[1].notes, Contains(Pair("no timeline", "it fell off")));
  EXPECT_THAT(result.cases[2].notes,
              Contains(Pair("no timeline",
                            "not run, its device was lost in fake/middle/n:1: it fell off")));
  expect_profile(result.cases[3]);
  EXPECT_THAT(kept, ElementsAre("first", "beside")) << "another backend goes on";
  EXPECT_EQ(scenario.count("record fake/last/n:1"), 0U);
  EXPECT_TRUE(lost.contains("gpu")) << "later sessions leave it alone";
  EXPECT_FALSE(lost.contains("host"));
}

TEST_F(ProfilingPassTest, EndsWithAWaitThatPassesItsLimit) {
  fail_to_record([] { throw TimedOut("gpu:0 did not finish"); });
  std::optional<SessionResult> known;
  bool alive = false;
  on_timeout = [&](const SessionResult& result, const TimedOut&) {
    known = result;
    alive = scenario.is_alive("fake/middle/n:1");
  };
  EXPECT_THROW((void)run_profiling(), TimedOut);
  ASSERT_TRUE(known.has_value());
  EXPECT_TRUE(alive) << "a stream still works on its memory";
  expect_samples(*known);
  expect_profile(known->cases[0]);
  EXPECT_THAT(known->cases[1].notes, Contains(Pair("no timeline", "gpu:0 did not finish")));
  EXPECT_FALSE(known->cases[2].profile.has_value());
  EXPECT_EQ(scenario.count("record fake/last/n:1"), 0U);
}

TEST_F(ProfilingPassTest, EndsWhenItIsInterrupted) {
  bool requested = false;
  interrupted = [&] { return requested; };
  fail_to_record([&] { requested = true; });
  const SessionResult result = run_profiling();
  EXPECT_TRUE(result.interrupted);
  expect_profile(result.cases[0]);
  expect_profile(result.cases[1]);
  for (const std::size_t later : {2U, 3U}) {
    EXPECT_FALSE(result.cases[later].profile.has_value());
    EXPECT_THAT(result.cases[later].notes, Contains(Pair("no timeline", "interrupted")));
  }
  EXPECT_THAT(kept, ElementsAre("first", "middle"));
}

TEST_F(ProfilingPassTest, DoesNotProfileAfterAnInterrupt) {
  interrupted = [this] { return scenario.clock >= 7; };  // 4 verification runs, 3 samples
  const SessionResult result = run({FakeScenario::spec("first"), FakeScenario::spec("middle"),
                                    FakeScenario::spec("last"), FakeScenario::spec("beside")});
  EXPECT_TRUE(result.interrupted);
  EXPECT_THAT(kept, IsEmpty());
  for (const report::CaseResult& one : result.cases) {
    EXPECT_THAT(one.notes, Contains(Pair(no_timeline, "interrupted")));
  }
}

/// Case "middle", whose samples take a second each.
class RepeatedProfiling : public ProfilingPassTest {
 protected:
  /// These are the times of its first recordings.
  report::Profile profile_of(std::vector<double> seconds) {
    scenario.behaviours["middle"].recorded_seconds = [seconds = std::move(seconds)](int recording) {
      return seconds.at(static_cast<std::size_t>(recording));
    };
    return run({FakeScenario::spec("middle")}).cases[0].profile.value();
  }
  [[nodiscard]] std::size_t recordings() const { return scenario.count("record fake/middle/n:1"); }
};

TEST_F(RepeatedProfiling, IsNotNeededWhereTheFirstRecordingIsNearTheSamples) {
  const report::Profile profile = profile_of({1.04});
  EXPECT_EQ(recordings(), 1U);
  EXPECT_FALSE(profile.deviation.has_value());
  EXPECT_DOUBLE_EQ(profile.metrics.span, 1.04);
}

TEST_F(RepeatedProfiling, TakesTheFirstThatIsNearTheSamples) {
  const report::Profile profile = profile_of({3.0, 0.94, 0.96});
  EXPECT_EQ(recordings(), 3U);
  EXPECT_DOUBLE_EQ(profile.metrics.span, 0.96);
  EXPECT_EQ(profile.executions, 3);
  EXPECT_DOUBLE_EQ(profile.median, 0.96);
  EXPECT_FALSE(profile.deviation.has_value());
}

TEST_F(RepeatedProfiling, TakesTheNearestOfEightThatAreFarAndSaysSo) {
  const report::Profile profile = profile_of({1.5, 2.0, 1.2, 3, 3, 3, 3, 3});
  EXPECT_EQ(recordings(), 8U);
  EXPECT_DOUBLE_EQ(profile.metrics.span, 1.2);
  EXPECT_EQ(profile.executions, 8);
  ASSERT_TRUE(profile.deviation.has_value());
  EXPECT_NEAR(*profile.deviation, 0.2, 1e-12);
}

/// Samples that scatter widely have no single typical time.
TEST_F(RepeatedProfiling, AcceptsATimeBetweenTheQuartilesOfManySamples) {
  options.fixed_samples = 9;
  int sample = 0;
  scenario.behaviours["middle"].seconds = [&](int) { return 1 + 0.1 * ((sample++ % 9) - 4); };
  const std::vector<double> far(8, 1.15);
  const report::Profile within = profile_of(far);
  EXPECT_EQ(recordings(), 8U) << "a time near the median would be better";
  EXPECT_FALSE(within.deviation.has_value());
  sample = 0;
  EXPECT_DOUBLE_EQ(profile_of(std::vector<double>(8, 1.25)).deviation.value(), 0.25);
}

TEST_F(RepeatedProfiling, ReportsShorterTimesAsWell) {
  EXPECT_DOUBLE_EQ(profile_of({0.5, 0.25, 0.75, 0.5, 0.5, 0.5, 0.5, 0.5}).deviation.value(), -0.25);
}

TEST_F(RepeatedProfiling, PassesOnOnlyTheTimelineThatIsKept) {
  int calls = 0;
  on_timeline = [&](const report::CaseResult&, const Timeline& timeline) {
    ++calls;
    EXPECT_EQ(timeline.end, 1'200'000'000);
  };
  (void)profile_of({1.5, 2.0, 1.2, 3, 3, 3, 3, 3});
  EXPECT_EQ(calls, 1);
}

TEST_F(RepeatedProfiling, EndsWithTheTimeOfTheScenario) {
  options.total_seconds = 8;  // one verification run, three samples, a recording
  const report::Profile profile = profile_of({3.0});
  EXPECT_EQ(recordings(), 1U);
  EXPECT_DOUBLE_EQ(profile.deviation.value(), 2);
}

TEST_F(RepeatedProfiling, EndsWhenItIsInterrupted) {
  interrupted = [this] { return recordings() > 0; };
  EXPECT_DOUBLE_EQ(profile_of({3.0}).deviation.value(), 2);
}

TEST(AnnouncedProfiles, CountUntilTheyAreWithdrawn) {
  ProfilingPass pass([](const report::CaseResult&, const Timeline&) {}, [] { return false; });
  PreparedCase shorter;
  shorter.execution_seconds = 1;
  PreparedCase longer;
  longer.execution_seconds = 4;
  pass.expect(shorter);
  pass.expect(longer);
  EXPECT_DOUBLE_EQ(pass.seconds_left(), 5);
  pass.withdraw(longer);
  EXPECT_DOUBLE_EQ(pass.seconds_left(), 1);
}

TEST(RecordedExecutions, AreManyOfShortCasesAndOneOfLongOnes) {
  EXPECT_EQ(recorded_executions(10), 1);
  EXPECT_EQ(recorded_executions(0.01), 3);
  EXPECT_EQ(recorded_executions(1e-6), 25);
  EXPECT_EQ(recorded_executions(0), 25);
}

}  // namespace
}  // namespace parbench
