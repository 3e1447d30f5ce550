// What goes wrong in a session: it stays with its case, and shows no number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "tests/bench/sampling/session_fixture.h"

namespace parbench {
namespace {

using fake::FakeScenario;
using fake::SessionTest;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

void expect_no_number(const report::CaseResult& one) {
  EXPECT_FALSE(one.statistics.has_value()) << one.name;
  EXPECT_FALSE(one.speedup.has_value()) << one.name;
  EXPECT_FALSE(one.bound.has_value()) << one.name;
  EXPECT_THAT(one.samples, IsEmpty()) << one.name;
  EXPECT_THAT(one.stopped_because, IsEmpty()) << one.name;
}

class FaultyCase : public SessionTest {
 protected:
  FaultyCase() { scenario.behaviours["base"] = {}; }

  /// Runs a case called "faulty" between two good ones, which must come to no harm.
  report::CaseResult run_faulty() {
    const SessionResult result = run({FakeScenario::spec("base", 1), FakeScenario::spec("faulty"),
                                      FakeScenario::spec("base", 2)});
    EXPECT_FALSE(result.all_measured());
    EXPECT_FALSE(result.interrupted);
    EXPECT_EQ(result.cases[0].status, report::CaseStatus::measured);
    EXPECT_EQ(result.cases[2].status, report::CaseStatus::measured);
    expect_no_number(result.cases[1]);
    EXPECT_THAT(fake::row_names(result.cases), Each(Not(HasSubstr("fake/faulty"))));
    EXPECT_THAT(progress.notes, SizeIs(1));
    return result.cases[1];
  }
};

TEST_F(FaultyCase, AWrongResultIsAFailure) {
  scenario.reference_strategy = "base";
  scenario.behaviours["faulty"].output = {1.0F, 2.5F};
  const report::CaseResult faulty = run_faulty();
  EXPECT_EQ(faulty.status, report::CaseStatus::failed);
  EXPECT_THAT(faulty.error, HasSubstr("wrong result: y[1] is 2.5"));
  ASSERT_TRUE(faulty.verification.has_value());
  EXPECT_FALSE(faulty.verification->passed);
  EXPECT_GT(faulty.verification->largest_error, 1);
  EXPECT_EQ(scenario.count("run fake/faulty/n:1"), 1U) << "it is not even sampled";
}

TEST_F(FaultyCase, ACheckThatFailsIsAFailure) {
  scenario.behaviours["faulty"].verdict = "counter is 3, not 4";
  const report::CaseResult faulty = run_faulty();
  EXPECT_EQ(faulty.status, report::CaseStatus::failed);
  EXPECT_THAT(faulty.error, HasSubstr("counter is 3, not 4"));
}

TEST_F(FaultyCase, ThrowingWhilePreparing) {
  scenario.behaviours["faulty"].on_prepare = [] { throw std::runtime_error("no such partition"); };
  const report::CaseResult faulty = run_faulty();
  EXPECT_EQ(faulty.status, report::CaseStatus::failed);
  EXPECT_EQ(faulty.error, "no such partition");
}

TEST_F(FaultyCase, ThrowingInTheVerificationRun) {
  scenario.behaviours["faulty"].seconds = [](int) -> double { throw Error("kernel failed"); };
  EXPECT_EQ(run_faulty().error, "kernel failed");
}

TEST_F(FaultyCase, ThrowingInALaterSampleTakesTheEarlierOnesBack) {
  scenario.behaviours["faulty"].seconds = [](int execution) {
    if (execution == 4) throw Error("kernel failed late");
    return 1.0;
  };
  const report::CaseResult faulty = run_faulty();
  EXPECT_EQ(faulty.status, report::CaseStatus::failed);
  EXPECT_EQ(faulty.error, "kernel failed late");
}

TEST_F(FaultyCase, ThrowingSomethingThatIsNoException) {
  scenario.behaviours["faulty"].seconds = [](int execution) {
    if (execution > 0) throw 7;
    return 1.0;
  };
  EXPECT_EQ(run_faulty().status, report::CaseStatus::failed);
}

TEST_F(FaultyCase, ATimeThatIsNoNumber) {
  scenario.behaviours["faulty"].seconds = [](int execution) {
    return execution == 0 ? 1.0 : std::numeric_limits<double>::quiet_NaN();
  };
  EXPECT_THAT(run_faulty().error, HasSubstr("finite"));
}

TEST_F(FaultyCase, OutOfMemoryIsSkippedWithTheNumbers) {
  scenario.behaviours["faulty"].on_prepare = [] {
    throw OutOfMemory("cpu:0", std::size_t{8} << 30U, std::size_t{1} << 30U);
  };
  const report::CaseResult faulty = run_faulty();
  EXPECT_EQ(faulty.status, report::CaseStatus::skipped);
  EXPECT_THAT(faulty.error, HasSubstr("8.00 GiB requested, 1.00 GiB available"));
}

TEST_F(FaultyCase, OutOfHostMemoryIsSkipped) {
  scenario.behaviours["faulty"].on_prepare = [] { throw std::bad_alloc(); };
  EXPECT_EQ(run_faulty().status, report::CaseStatus::skipped);
}

TEST_F(FaultyCase, UnsupportedIsSkippedWithTheReason) {
  scenario.behaviours["faulty"].on_prepare = [] { throw Unsupported("no bf16 here"); };
  const report::CaseResult faulty = run_faulty();
  EXPECT_EQ(faulty.status, report::CaseStatus::skipped);
  EXPECT_EQ(faulty.error, "no bf16 here");
}

TEST_F(SessionTest, AFailedReferenceFailsWhatStandsOnItAndRunsOnce) {
  scenario.reference_strategy = "base";
  scenario.behaviours["base"].verdict = "the baseline is wrong";
  scenario.behaviours["a"] = {};
  scenario.behaviours["b"] = {};
  const SessionResult result =
      run({FakeScenario::spec("base"), FakeScenario::spec("a"), FakeScenario::spec("b")});
  for (const report::CaseResult& one : result.cases) {
    EXPECT_EQ(one.status, report::CaseStatus::failed);
    EXPECT_THAT(one.error, HasSubstr("the baseline is wrong"));
    expect_no_number(one);
  }
  EXPECT_THAT(result.cases[1].error, HasSubstr("its reference fake/base/n:1: "));
  EXPECT_EQ(scenario.count("run fake/base/n:1"), 1U);
  EXPECT_EQ(result.answer->text, "Not decided: 0 of 3 cases measured; 3 failed.");
}

/// A reference that cannot be prepared, in the sweep or outside it, and what stands on it.
class MissingReference : public SessionTest, public testing::WithParamInterface<bool> {
 protected:
  MissingReference() {
    scenario.reference_strategy = "base";
    scenario.behaviours["a"] = {};
    scenario.behaviours["b"] = {};
  }

  /// The cases that stand on it.
  std::vector<report::CaseResult> run_without(std::function<void()> failure) {
    scenario.behaviours["base"].on_prepare = std::move(failure);
    std::vector<CaseSpec> specs{FakeScenario::spec("a"), FakeScenario::spec("b")};
    if (GetParam()) specs.push_back(FakeScenario::spec("base"));
    SessionResult result = run(specs);
    EXPECT_EQ(scenario.count("prepare fake/base/n:1"), 1U) << "it is not tried again";
    result.cases.resize(2);
    return result.cases;
  }
};

TEST_P(MissingReference, ForMemorySkipsAndSaysWhoseMemory) {
  for (const report::CaseResult& one : run_without(
           [] { throw OutOfMemory("cpu:0", std::size_t{8} << 30U, std::size_t{1} << 30U); })) {
    EXPECT_EQ(one.status, report::CaseStatus::skipped);
    EXPECT_THAT(one.error, HasSubstr("its reference fake/base/n:1: out of memory on cpu:0: 8.0"));
  }
}

TEST_P(MissingReference, ForHostMemorySkipsAndSaysWhoseMemory) {
  for (const report::CaseResult& one : run_without([] { throw std::bad_alloc(); })) {
    EXPECT_EQ(one.status, report::CaseStatus::skipped);
    EXPECT_THAT(one.error, HasSubstr("its reference fake/base/n:1: out of memory on the host"));
  }
}

TEST_P(MissingReference, ThatIsUnsupportedSkips) {
  for (const report::CaseResult& one : run_without([] { throw Unsupported("no bf16 here"); })) {
    EXPECT_EQ(one.status, report::CaseStatus::skipped);
    EXPECT_THAT(one.error, HasSubstr("its reference fake/base/n:1: no bf16 here"));
  }
}

TEST_P(MissingReference, ThatFailsIsAFailure) {
  for (const report::CaseResult& one : run_without([] { throw Error("no such partition"); })) {
    EXPECT_EQ(one.status, report::CaseStatus::failed);
    EXPECT_THAT(one.error, HasSubstr("its reference fake/base/n:1: no such partition"));
  }
}

INSTANTIATE_TEST_SUITE_P(Sweep, MissingReference, testing::Bool(), [](const auto& in_sweep) {
  return in_sweep.param ? "within" : "outside";
});

/// Execution `n` of case "a" never ends.
class TimedOutSession : public SessionTest {
 protected:
  void run_until_execution(int last) {
    scenario.behaviours["base"] = {};
    scenario.behaviours["a"].seconds = [last](int execution) {
      if (execution == last) throw TimedOut("cpu:0 did not finish");
      return 1.0;
    };
    on_timeout = [this](const SessionResult& result, const TimedOut&) {
      known = result;
      alive = scenario.is_alive("fake/a/n:1");
    };
    EXPECT_THROW((void)run({FakeScenario::spec("base"), FakeScenario::spec("a"),
                            FakeScenario::spec("base", 2)}),
                 TimedOut);
    ASSERT_TRUE(known.has_value());
    EXPECT_TRUE(alive) << "a stream still works on its memory";
    EXPECT_EQ(known->cases[1].status, report::CaseStatus::failed);
    EXPECT_EQ(known->cases[1].error, "cpu:0 did not finish");
    expect_no_number(known->cases[1]);
  }

  std::optional<SessionResult> known;
  bool alive = false;
};

TEST_F(TimedOutSession, WhilePreparingIsTheEnd) {
  run_until_execution(0);
  EXPECT_EQ(scenario.count("prepare fake/base/n:2"), 0U);
}

TEST_F(TimedOutSession, WhileSamplingKeepsTheSamplesOfTheOthers) {
  run_until_execution(4);
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_EQ(known->cases[other].status, report::CaseStatus::measured);
    EXPECT_EQ(known->cases[other].stopped_because, "unfinished");
  }
}

TEST_F(TimedOutSession, OfAReferenceIsNotTheFailureOfACase) {
  scenario.reference_strategy = "a";
  run_until_execution(0);
  EXPECT_EQ(scenario.count("prepare fake/base/n:1"), 0U);
}

TEST_F(SessionTest, AFailedBaselineLeavesCasesWithoutSpeedup) {
  scenario.behaviours["base"].seconds = [](int execution) {
    if (execution == 2) throw Error("late");
    return 1.0;
  };
  scenario.behaviours["a"] = {};
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("a")});
  EXPECT_EQ(result.cases[1].status, report::CaseStatus::measured);
  EXPECT_FALSE(result.cases[1].speedup.has_value());
}

class InterruptedSession : public SessionTest {
 protected:
  InterruptedSession() {
    scenario.behaviours["a"] = {};
    scenario.behaviours["b"] = {};
    interrupted = [this] { return scenario.clock >= stop_at; };
  }
  SessionResult run_until(double seconds) {
    stop_at = seconds;
    return run({FakeScenario::spec("a"), FakeScenario::spec("b")});
  }
  double stop_at = 0;
};

TEST_F(InterruptedSession, BetweenSamplesKeepsWhatThereIs) {
  const SessionResult result = run_until(7);  // 2 verification runs, 5 samples
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.all_measured());
  EXPECT_EQ(result.cases[0].samples.size() + result.cases[1].samples.size(), 5U);
  for (const report::CaseResult& one : result.cases) {
    EXPECT_EQ(one.status, report::CaseStatus::measured);
    EXPECT_EQ(one.stopped_because, "unfinished");
    ASSERT_TRUE(one.statistics.has_value());
    EXPECT_DOUBLE_EQ(one.statistics->median, 1);
  }
  EXPECT_TRUE(progress.finished);
}

TEST_F(InterruptedSession, WithinASampleDropsThatSample) {
  options.fixed_iterations = 10;
  const SessionResult result = run_until(2 + 10 + 4);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.cases[0].samples.size() + result.cases[1].samples.size(), 1U);
  EXPECT_DOUBLE_EQ(scenario.clock, 16);
  EXPECT_THAT(fake::row_names(result.cases), SizeIs(1));
  const report::CaseResult& without = result.cases[result.cases[0].samples.empty() ? 0 : 1];
  EXPECT_EQ(without.status, report::CaseStatus::not_run);
  EXPECT_FALSE(without.statistics.has_value());
}

TEST_F(InterruptedSession, WhilePreparingMeasuresNothing) {
  const SessionResult result = run_until(0.5);
  EXPECT_TRUE(result.interrupted);
  EXPECT_THAT(result.answer->text, HasSubstr("Not decided: 0 of "));
  for (const report::CaseResult& one : result.cases) {
    EXPECT_EQ(one.status, report::CaseStatus::not_run);
    EXPECT_THAT(one.samples, IsEmpty());
  }
}

TEST_F(InterruptedSession, BeforeTheVerificationRun) {
  scenario.behaviours["a"].on_prepare = [this] { scenario.clock = 1; };
  EXPECT_TRUE(run_until(1).interrupted);
  EXPECT_EQ(scenario.count("run fake/a/n:1"), 0U);
}

TEST_F(InterruptedSession, BeforeTheCostsOfTasks) {
  EXPECT_TRUE(run_until(1).interrupted);
  EXPECT_EQ(scenario.count("costs fake/a/n:1"), 0U);
}

TEST_F(InterruptedSession, AfterTheReference) {
  scenario.reference_strategy = "elsewhere";
  scenario.behaviours["elsewhere"] = {};
  EXPECT_TRUE(run_until(1).interrupted);
  EXPECT_EQ(scenario.count("run fake/elsewhere/n:1"), 1U);
  EXPECT_EQ(scenario.count("prepare fake/a/n:1"), 0U);
}

TEST_F(InterruptedSession, WithinTheCostsOfTasks) {
  scenario.behaviours["a"].cost_seconds = 3;
  const SessionResult result = run_until(2);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.cases[0].status, report::CaseStatus::not_run);
  EXPECT_EQ(scenario.count("prepare fake/b/n:1"), 0U);
}

TEST_F(SessionTest, CheckpointsHoldWhatIsKnownSoFar) {
  options.fixed_samples = 20;
  options.max_seconds = std::numeric_limits<double>::infinity();
  for (const char* strategy : {"base", "a", "wrong"}) scenario.behaviours[strategy] = {};
  scenario.behaviours["wrong"].verdict = "no";
  (void)run({FakeScenario::spec("base"), FakeScenario::spec("a"), FakeScenario::spec("wrong")});
  ASSERT_GE(checkpoints.size(), 5U);
  EXPECT_LE(checkpoints.size(), 10U) << "43 s at one in 5 s, and two while preparing";
  EXPECT_EQ(checkpoints.front().cases[0].status, report::CaseStatus::not_run);
  const SessionResult& last = checkpoints.back();
  EXPECT_EQ(last.cases[2].status, report::CaseStatus::failed);
  for (const std::size_t index : {0U, 1U}) {
    const report::CaseResult& one = last.cases[index];
    EXPECT_EQ(one.status, report::CaseStatus::measured);
    EXPECT_GE(one.samples.size(), 15U);
    ASSERT_TRUE(one.statistics.has_value());
    EXPECT_DOUBLE_EQ(one.statistics->median, 1);
  }
  for (const report::CaseResult& one : checkpoints.at(checkpoints.size() - 2).cases) {
    if (one.status != report::CaseStatus::measured) continue;
    EXPECT_EQ(one.stopped_because, "unfinished") << "what a run that is killed then leaves";
  }
  ASSERT_TRUE(last.cases[1].speedup.has_value());
  EXPECT_DOUBLE_EQ(last.cases[1].speedup->value, 1);
}

TEST_F(SessionTest, CheckpointsLoseTenSecondsAtMostWhereStepsAreLong) {
  scenario.behaviours["base"].seconds = [](int) { return 4.0; };
  scenario.behaviours["long"].seconds = [](int) { return 7.0; };
  options.fixed_samples = 10;
  options.max_seconds = std::numeric_limits<double>::infinity();
  (void)run({FakeScenario::spec("base"), FakeScenario::spec("long")});
  const auto count_of = [](const SessionResult& known) {
    return known.cases[0].samples.size() + known.cases[1].samples.size();
  };
  std::size_t latest = 0;
  for (const SessionResult& known : checkpoints) {
    EXPECT_LE(count_of(known), latest + 1) << "two samples may take more than 10 s";
    latest = count_of(known);
  }
  EXPECT_EQ(latest, 20U);
}

TEST_F(SessionTest, CheckpointsAreNotTooFrequent) {
  scenario.behaviours["base"].seconds = [](int) { return 0.01; };
  options.fixed_samples = 50;
  (void)run({FakeScenario::spec("base")});
  EXPECT_THAT(checkpoints, IsEmpty());
}

}  // namespace
}  // namespace parbench
