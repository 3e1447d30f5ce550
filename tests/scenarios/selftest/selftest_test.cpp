// Scenario selftest: its lanes, its counters and what it expects.
#include "scenarios/selftest/selftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/plan_checks.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;

struct SelftestTest : testing::Test {
  std::unique_ptr<Scenario> scenario = make_selftest();

  std::string expected_seconds(const Case& subject) {
    for (const auto& [name, value] : subject.notes()) {
      if (name == "expected_seconds") return value;
    }
    return "";
  }
};

TEST_F(SelftestTest, CountsEveryTask) {
  for (const int devices : {1, 3}) {
    Context context = fake_context(devices);
    for (const char* strategy : {"spin", "parallel"}) {
      const CaseSpec spec = spec_of(*scenario, strategy, {{"tasks", 7}}, devices);
      const auto subject = ready_case(*scenario, spec, context);
      EXPECT_THAT(subject->check().value_or(""), HasSubstr("ran 0 tasks"));
      run_in_order(subject->plan());
      EXPECT_EQ(subject->check(), std::nullopt);
      run_in_order(subject->plan());
      EXPECT_TRUE(subject->check()) << "an execution too many";
      subject->reset();
      run_in_order(subject->plan());
      EXPECT_EQ(subject->check(), std::nullopt);
      EXPECT_EQ(subject->plan().graph().tasks.size(), 7);
    }
  }
}

TEST_F(SelftestTest, KnowsItsTime) {
  Context context = fake_context(1);
  const std::vector<Parameter> values = {{"tasks", 7}, {"duration", "2ms"}};
  const auto spin = ready_case(*scenario, spec_of(*scenario, "spin", values), context);
  EXPECT_EQ(expected_seconds(*spin), "0.014");
  EXPECT_EQ(spin->plan().graph().lanes.size(), 1);
  const auto parallel = ready_case(*scenario, spec_of(*scenario, "parallel", values), context);
  EXPECT_EQ(expected_seconds(*parallel), "0.008");
  EXPECT_EQ(parallel->plan().graph().lanes.size(), 2);
}

TEST_F(SelftestTest, SlowdownIsNotInTheName) {
  const CaseSpec plain = spec_of(*scenario, "spin", {});
  const CaseSpec slow = spec_of(*scenario, "spin", {{"slowdown", 10.0}});
  EXPECT_EQ(plain.name(), slow.name());
  EXPECT_EQ(slow.hidden.real("slowdown"), 10.0);
  Context context = fake_context(1);
  EXPECT_EQ(expected_seconds(*ready_case(*scenario, slow, context)), "0.01");
}

TEST_F(SelftestTest, Answer) {
  CaseOutcome outcome;
  outcome.spec = spec_of(*scenario, "spin", {});
  outcome.median_seconds = 0.0101;
  EXPECT_EQ(scenario->answer({outcome}, within(0)).text,
            "On one lane: 10.10 ms measured for 10.00 ms (+1.00%).");
  CaseOutcome other = outcome;
  other.median_seconds = 0.0098;
  EXPECT_EQ(
      scenario->answer({outcome, other}, within(0)).text,
      "On one lane: 9.800 ms measured for 10.00 ms (-2.00%), the largest deviation of 2 cases.");
  EXPECT_THAT(scenario->answer({}, within(0)).text, HasSubstr("no answer"));
}

}  // namespace
}  // namespace parbench::test
