// A device that is lost ends what needs it, in this session and in later ones, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/base/error.h"
#include "tests/bench/sampling/session_fixture.h"

namespace parbench {
namespace {

using fake::FakeScenario;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Cases "good" and "lost" on a device of backend "gpu", and "beside" on one of backend "host".
class LostDevice : public fake::SessionTest {
 protected:
  LostDevice() {
    backends = {"gpu", "host"};
    scenario.behaviours["good"] = {};
    scenario.behaviours["beside"].devices = {1};
  }

  /// Case "lost" meets the loss in its n-th execution (0 is the verification run).
  void lose_in_execution(int last) {
    scenario.behaviours["lost"].seconds = [last](int execution) {
      if (execution == last) throw DeviceLost("gpu", "it fell off");
      return 1.0;
    };
  }
  /// As a real device does from then on.
  void refuse_everything(const std::string& strategy) {
    scenario.behaviours[strategy].on_prepare = [this] {
      if (lost.contains("gpu")) throw DeviceLost("gpu", "still gone");
    };
  }

  static void expect_not_run(const report::CaseResult& one) {
    EXPECT_EQ(one.status, report::CaseStatus::not_run) << one.name;
    EXPECT_EQ(one.error, "not run, its device was lost in fake/lost/n:1: it fell off") << one.name;
    EXPECT_FALSE(one.statistics.has_value()) << one.name;
    EXPECT_FALSE(one.bound.has_value()) << one.name;
    EXPECT_THAT(one.samples, IsEmpty()) << one.name;
  }
};

TEST_F(LostDevice, EndsWhatWasPreparedForItAndWhatWasToBe) {
  lose_in_execution(0);
  refuse_everything("good");
  const SessionResult result = run({FakeScenario::spec("good", 1), FakeScenario::spec("lost"),
                                    FakeScenario::spec("good", 2), FakeScenario::spec("beside")});
  EXPECT_FALSE(result.all_measured());
  EXPECT_EQ(result.cases[1].status, report::CaseStatus::failed);
  EXPECT_EQ(result.cases[1].error, "it fell off");
  expect_not_run(result.cases[0]);
  expect_not_run(result.cases[2]);
  EXPECT_EQ(scenario.count("run fake/good/n:1"), 1U) << "it is not sampled";
  EXPECT_EQ(scenario.count("run fake/good/n:2"), 0U);
  EXPECT_EQ(progress.notes.size(), 1U) << "one loss is reported once";
}

TEST_F(LostDevice, LeavesTheCasesOfOtherDevicesAlone) {
  lose_in_execution(0);
  const SessionResult result = run({FakeScenario::spec("beside", 1), FakeScenario::spec("lost"),
                                    FakeScenario::spec("beside", 2)});
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_EQ(result.cases[other].status, report::CaseStatus::measured);
    EXPECT_THAT(result.cases[other].error, IsEmpty());
    EXPECT_NE(result.cases[other].stopped_because, "device lost");
  }
}

TEST_F(LostDevice, IsNotTriedAgainWhereThereIsNoOther) {
  backends = {"gpu"};
  lose_in_execution(0);
  const SessionResult result = run({FakeScenario::spec("lost"), FakeScenario::spec("good")});
  expect_not_run(result.cases[1]);
  EXPECT_EQ(scenario.count("prepare fake/good/n:1"), 0U);
  EXPECT_THAT(profile_marks, IsEmpty());
}

TEST_F(LostDevice, EndsLaterSessions) {
  backends = {"gpu"};
  lose_in_execution(0);
  (void)run({FakeScenario::spec("lost")});
  scenario.log.clear();
  const SessionResult later = run({FakeScenario::spec("good")});
  expect_not_run(later.cases[0]);
  EXPECT_THAT(scenario.log, IsEmpty());
  EXPECT_EQ(later.answer->text, "Not decided: 0 of 1 case measured; 1 not run.");
}

TEST_F(LostDevice, ByAReferenceEndsWhatStandsOnIt) {
  scenario.reference_strategy = "lost";
  lose_in_execution(0);
  const SessionResult result = run({FakeScenario::spec("good", 1), FakeScenario::spec("good", 1)});
  EXPECT_EQ(result.cases[0].status, report::CaseStatus::failed);
  EXPECT_EQ(result.cases[1].status, report::CaseStatus::not_run);
  EXPECT_THAT(result.cases[1].error, HasSubstr("its device was lost in fake/good/n:1"));
}

TEST_F(LostDevice, LeavesTheSamplesFromBefore) {
  lose_in_execution(4);
  const SessionResult result =
      run({FakeScenario::spec("good"), FakeScenario::spec("lost"), FakeScenario::spec("beside")});
  EXPECT_FALSE(result.all_measured());
  const report::CaseResult& good = result.cases[0];
  EXPECT_EQ(good.status, report::CaseStatus::measured);
  EXPECT_EQ(good.stopped_because, "device lost");
  EXPECT_THAT(good.samples, Not(IsEmpty()));
  EXPECT_LT(good.samples.size(), result.cases[2].samples.size()) << "the others go on";
  EXPECT_EQ(result.cases[1].status, report::CaseStatus::failed);
  EXPECT_THAT(result.cases[1].samples, IsEmpty());
  EXPECT_EQ(profile_marks.size(), 2U) << "the end is marked for profilers";
}

}  // namespace
}  // namespace parbench
