// Which of the cases with equal plans a session measures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/sampling/session_fixture.h"

namespace parbench {
namespace {

using fake::FakeScenario;
using fake::SessionTest;

TEST_F(SessionTest, OfCasesWithEqualPlansOneIsMeasured) {
  scenario.shows_all = true;
  for (const char* name : {"base", "same", "again"}) scenario.behaviours[name] = {};
  scenario.behaviours["other"] = {.task_seconds = {0.5}};
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("same"),
                                    FakeScenario::spec("again"), FakeScenario::spec("other")});
  EXPECT_EQ(result.cases[0].status, report::CaseStatus::measured);
  EXPECT_EQ(result.cases[3].status, report::CaseStatus::measured);
  for (const std::size_t equal : {1U, 2U}) {
    const report::CaseResult& one = result.cases[equal];
    EXPECT_TRUE(report::has_equal_plan(one));
    EXPECT_TRUE(one.samples.empty());
    EXPECT_EQ(one.error, "it has the same plan as fake/base/n:1, which is measured");
    EXPECT_TRUE(one.verification->passed);
    EXPECT_FALSE(report::is_unfinished(one));
  }
  EXPECT_TRUE(result.all_measured());
  EXPECT_THAT(
      progress.notes,
      testing::Contains("fake/same/n:1 not measured: it has the same plan as fake/base/n:1, "
                        "which is measured"));
}

TEST_F(SessionTest, AllCasesWithEqualPlansAreMeasuredWhereThatIsWanted) {
  scenario.shows_all = true;
  options.measures_equal_plans = true;
  for (const char* name : {"base", "same"}) scenario.behaviours[name] = {};
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("same")});
  EXPECT_EQ(result.cases[1].status, report::CaseStatus::measured);
}

TEST_F(SessionTest, ACaseThatOthersAreComparedWithIsMeasuredWhateverItsPlan) {
  scenario.shows_all = true;
  for (const char* name : {"base", "same"}) scenario.behaviours[name] = {};
  const SessionResult result = run({FakeScenario::spec("same"), FakeScenario::spec("base")});
  EXPECT_EQ(result.cases[1].status, report::CaseStatus::measured);
}

TEST_F(SessionTest, EqualPlansOfOtherFormatsOrScenariosAreMeasured) {
  for (const char* name : {"base", "same"}) scenario.behaviours[name] = {};
  EXPECT_EQ(run({FakeScenario::spec("base"), FakeScenario::spec("same")}).cases[1].status,
            report::CaseStatus::measured)
      << "its plans do not show all";
  scenario.shows_all = true;
  CaseSpec narrow = FakeScenario::spec("same");
  narrow.dtype = DType::bf16;
  EXPECT_EQ(run({FakeScenario::spec("base"), narrow}).cases[1].status,
            report::CaseStatus::measured);
}

}  // namespace
}  // namespace parbench
