// Scenario selftest: its lanes, its counters and what it expects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/framework/built_in.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/plan_checks.h"

namespace parbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

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

/// A case of 10 ms with an interval of its median, in ms.
CaseOutcome spinning(const Scenario& scenario, double low, double high, double confidence = 0.97) {
  CaseOutcome outcome;
  outcome.spec = spec_of(scenario, "spin", {});
  outcome.median_seconds = (low + high) / 2 / 1000;
  outcome.interval = Interval{low / 1000, high / 1000, confidence};
  return outcome;
}

TEST_F(SelftestTest, AnswersYesOrNoOnlyWhereTheWholeIntervalDoes) {
  const auto text = [&](const std::vector<CaseOutcome>& outcomes) {
    return scenario->answer(outcomes, within(0)).text;
  };
  EXPECT_EQ(
      text({spinning(*scenario, 9.99, 10.05)}),
      "Yes, within 1%: on one lane 10.02 ms measured for 10.00 ms (+0.20%, -0.10 to +0.50%).");
  EXPECT_THAT(text({spinning(*scenario, 10.2, 10.4)}), StartsWith("No, not within 1%: "));
  EXPECT_THAT(text({spinning(*scenario, 9.5, 9.8)}), StartsWith("No, not within 1%: "));
  EXPECT_THAT(text({spinning(*scenario, 9.95, 10.2)}), StartsWith("Not known within 1%: "));
  EXPECT_THAT(text({spinning(*scenario, 9.99, 10.01, 0.75)}),
              AllOf(StartsWith("Not known within 1%: "), HasSubstr("at 75% confidence")));
  CaseOutcome single = spinning(*scenario, 10, 10);
  single.interval.reset();
  EXPECT_EQ(text({single}),
            "Not known within 1%: on one lane 10.00 ms measured for 10.00 ms (+0.00%).");
}

TEST_F(SelftestTest, GivesNoVerdictThatLoadCanExplain) {
  const auto text = [&](double low, double high, double load) {
    CaseOutcome outcome = spinning(*scenario, low, high);
    outcome.load = load;
    return scenario->answer({outcome}, within(0)).text;
  };
  EXPECT_EQ(text(21, 22, 0.58),
            "No verdict: on one lane 21.50 ms measured for 10.00 ms (+115.00%, +110.00 to "
            "+120.00%); other programs had 58% of the core time: repeat on a quiet machine.");
  EXPECT_THAT(text(9.9, 10.2, 0.1), StartsWith("No verdict: "));
  EXPECT_THAT(text(21, 22, 0.3), StartsWith("No, not within 1%: ")) << "21 ms · 70% = 14.7 ms";
  EXPECT_THAT(text(9.99, 10.01, 0.58), StartsWith("Yes, within 1%: "));
}

TEST_F(SelftestTest, NamesLanesThatMissTheirTime) {
  const auto text = [&](double low, double high, const std::vector<double>& memory,
                        std::size_t cores) {
    CaseOutcome parallel = spinning(*scenario, low, high);
    parallel.spec = spec_of(*scenario, "parallel", {});
    parallel.memory = memory;
    parallel.cores = cores;
    parallel.load = 0.35;
    return scenario->answer({spinning(*scenario, 9.99, 10.01), parallel}, within(0)).text;
  };
  const std::string yes =
      "Yes, within 1%: on one lane 10.00 ms measured for 10.00 ms (+0.00%, -0.10 to +0.10%).";
  EXPECT_EQ(text(13, 14.5, {8}, 2),
            yes +
                " On 2 lanes 13.75 ms measured for 5.000 ms (+175.00%, +160.00 to +190.00%); "
                "other programs had 35% of the core time.");
  EXPECT_EQ(text(4.1, 4.3, {8, 8, 8}, 3),
            yes +
                " On 3 lanes 4.200 ms measured for 4.000 ms (+5.00%, +2.50 to +7.50%); other "
                "programs had 35% of the core time.")
      << "one lane has four of ten tasks";
  EXPECT_EQ(text(4.98, 5.2, {8}, 2), yes) << "perhaps as long as expected";
  EXPECT_EQ(text(9, 11, {8}, 1), yes) << "two lanes of one core";
  EXPECT_EQ(text(9, 11, {}, 0), yes) << "the number of lanes is not known";
}

TEST_F(SelftestTest, AnswersForTheWorstCase) {
  EXPECT_EQ(scenario
                ->answer({spinning(*scenario, 9.99, 10.01), spinning(*scenario, 9.7, 9.88),
                          spinning(*scenario, 9, 11)},
                         within(0))
                .text,
            "No, not within 1%: on one lane 9.790 ms measured for 10.00 ms (-2.10%, -3.00 to "
            "-1.20%), the largest deviation of 3 cases.");
  const Conclusion none = scenario->answer({}, within(0));
  EXPECT_THAT(none.text, HasSubstr("Not decided: "));
  EXPECT_FALSE(none.is_answered);
}

}  // namespace
}  // namespace parbench::test
