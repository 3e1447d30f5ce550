// What answers say of exposed communication, idle time and memory.
#include "scenarios/answers/time_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenarios/answers/best_strategy.h"
#include "tests/bench/cli/described_scenarios.h"
#include "tests/scenarios/answers/rivals.h"

namespace parbench::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double mebibyte = 1 << 20;

const DescribedScenario& with_profiles() {
  static const DescribedScenario made("made", {{"plain", "one"}, {"odd", "two"}, {"apt", "three"}},
                                      {make_axis("n", AxisKind::integer, {std::int64_t{8}})});
  return made;
}

CaseOutcome profiled(const std::string& strategy, double speedup, std::int64_t n = 8) {
  CaseOutcome one;
  one.spec.scenario = "made";
  one.spec.strategy = strategy;
  one.spec.parameters.set("n", n);
  one.median_seconds = 1 / speedup;
  one.shares = TimeShares{.compute = 0.8, .exposed = 0.05, .idle = 0.15};
  one.memory = {2 * mebibyte, 2 * mebibyte};
  if (strategy != "plain") {
    one.speedup = {speedup, Interval{speedup - 0.05, speedup + 0.05, 0.97}};
  }
  return one;
}

std::string answer_with_shares(const std::vector<CaseOutcome>& outcomes) {
  return with_time_shares(best_strategy(with_profiles(), outcomes, within(0.01)), with_profiles(),
                          all_outcomes(outcomes),
                          [](const CaseSpec& spec) { return spec.strategy; })
      .text;
}

TEST(TimeShares, AreThoseOfAllButTheBaseline) {
  CaseOutcome uneven = profiled("apt", 1.5);
  uneven.memory = {mebibyte, 3 * mebibyte};
  EXPECT_THAT(answer_with_shares({profiled("plain", 1), profiled("odd", 2), uneven}),
              EndsWith(" Exposed communication, idle, memory: odd 5%, 15%, 2.00 MiB; apt 5%, 15%, "
                       "1.00 + 3.00 MiB."));
}

TEST(TimeShares, AreThoseOfTheSettingWithTheLargestGain) {
  std::vector<CaseOutcome> outcomes{profiled("plain", 1), profiled("odd", 2),
                                    profiled("plain", 1, 16), profiled("odd", 3, 16)};
  outcomes.back().shares = TimeShares{.compute = 0.9, .exposed = 0.01, .idle = 0.09};
  EXPECT_THAT(answer_with_shares(outcomes), EndsWith(" memory (n 16): odd 1%, 9%, 2.00 MiB."));
}

TEST(TimeShares, AreUnknownWhereOtherProgramsLeaveNoVerdict) {
  CaseOutcome loaded = profiled("odd", 2);
  loaded.load = 0.6;
  EXPECT_THAT(answer_with_shares({profiled("plain", 1), loaded}), HasSubstr("communication"));
  loaded.min_speedup = Ratio{0.8, Interval{0.7, 0.9, 0.97}};
  EXPECT_THAT(answer_with_shares({profiled("plain", 1), loaded}),
              testing::AllOf(HasSubstr("No verdict"), Not(HasSubstr("communication"))));
}

/// An answer has three lines.
TEST(TimeShares, AreThoseOfTheRecommendedCaseAloneWhereThereIsNoRoomForAll) {
  const std::vector<CaseOutcome> outcomes{profiled("plain", 1), profiled("odd", 2),
                                          profiled("apt", 1.5)};
  Conclusion conclusion = best_strategy(with_profiles(), outcomes, within(0.01));
  const auto with_shares = [&] {
    return with_time_shares(conclusion, with_profiles(), all_outcomes(outcomes),
                            [](const CaseSpec& spec) { return spec.strategy; })
        .text;
  };
  conclusion.text = std::string(210, 'x');
  EXPECT_THAT(with_shares(), EndsWith("x Exposed communication, idle, memory: odd 5%, 15%, 2.00 "
                                      "MiB; apt 5%, 15%, 2.00 MiB."));
  conclusion.text = std::string(97, 'x') + ' ' + std::string(97, 'y') + ' ' + std::string(20, 'z');
  EXPECT_THAT(with_shares(),
              EndsWith("z Exposed communication, idle, memory: odd 5%, 15%, 2.00 MiB."));
  conclusion.text += std::string(60, 'z');
  EXPECT_EQ(with_shares(), conclusion.text);
}

TEST(TimeShares, AreLeftOutWithoutProfilesAndAnswers) {
  CaseOutcome odd = profiled("odd", 2);
  odd.shares.reset();
  EXPECT_THAT(answer_with_shares({profiled("plain", 1), odd}), Not(HasSubstr("Exposed")));
  EXPECT_THAT(answer_with_shares({profiled("plain", 1)}), Not(HasSubstr("Exposed")));
}

}  // namespace
}  // namespace parbench::test
