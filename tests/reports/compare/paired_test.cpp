// When pairs are judged, and what stands.
#include "reports/compare/paired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/reports/compare/simulation.h"

namespace parbench::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const double slower = std::log(1.10);

/// Ratios of one case that alternate a little around a change.
double around(double log_ratio, int pair) { return log_ratio + (pair % 2 == 0 ? 0.001 : -0.001); }

PairedVerdict only(const PairedComparison& comparison) {
  const std::vector<PairedVerdict> verdicts = comparison.verdicts();
  EXPECT_THAT(verdicts, SizeIs(1));
  return verdicts.front();
}

TEST(PairedComparison, JudgesAtItsLooksOnly) {
  PairedComparison comparison;
  for (int pair = 1; pair <= 4; ++pair) {
    comparison.add({{"a", around(slower, pair)}});
    EXPECT_FALSE(comparison.is_look());
    EXPECT_EQ(comparison.next_look(), 5);
    EXPECT_FALSE(only(comparison).judgement);
    EXPECT_FALSE(comparison.is_finished());
  }
  comparison.add({{"a", around(slower, 5)}});
  EXPECT_TRUE(comparison.is_look());
  EXPECT_TRUE(comparison.is_settled());
  EXPECT_TRUE(comparison.is_finished());
  EXPECT_EQ(comparison.next_look(), std::nullopt);
  EXPECT_THAT(comparison.looks(), ElementsAre(5));
  EXPECT_EQ(only(comparison).judgement->verdict, Verdict::regressed);
  EXPECT_EQ(only(comparison).pairs, 5);
}

TEST(PairedComparison, GoesOnUntilEveryCaseHasAVerdictThatThenStands) {
  PairedComparison comparison;
  Noise noise(Tails::normal);
  for (int pair = 1; pair <= 7; ++pair) {
    const double early = pair <= 5 ? around(slower, pair) : 0;
    comparison.add({{"early", early}, {"noisy", 0.3 * noise()}});
  }
  EXPECT_THAT(comparison.looks(), ElementsAre(5, 7));
  EXPECT_FALSE(comparison.is_settled());
  EXPECT_EQ(comparison.next_look(), 10);
  const std::vector<PairedVerdict> verdicts = comparison.verdicts();
  ASSERT_THAT(verdicts, SizeIs(2));
  EXPECT_EQ(verdicts[0].judgement->verdict, Verdict::regressed);
  EXPECT_EQ(verdicts[0].pairs, 5) << "of the look that gave the verdict";
  EXPECT_EQ(verdicts[1].judgement->verdict, Verdict::undecided);
  EXPECT_EQ(verdicts[1].pairs, 7);
  EXPECT_TRUE(verdicts[0].is_settled());
  EXPECT_FALSE(verdicts[1].is_settled());
}

TEST(PairedComparison, EndsWithItsLastLook) {
  PairedComparison comparison({.rule = {}, .looks = {2, 3}});
  for (int pair = 1; pair <= 3; ++pair) comparison.add({{"a", pair % 2 == 0 ? 0.5 : -0.5}});
  EXPECT_FALSE(comparison.is_settled());
  EXPECT_TRUE(comparison.is_finished());
  EXPECT_EQ(only(comparison).judgement->verdict, Verdict::undecided);
  EXPECT_THROW(comparison.add({{"a", 0}}), std::logic_error);
}

TEST(PairedComparison, IsConcludedByWhatItHasWhenTheTimeIsSpent) {
  PairedComparison comparison;
  for (int pair = 1; pair <= 6; ++pair) {
    comparison.add({{"sure", around(slower, pair)}, {"unsure", pair % 2 == 0 ? 0.3 : -0.3}});
  }
  comparison.conclude();
  EXPECT_THAT(comparison.looks(), ElementsAre(5, 6));
  EXPECT_TRUE(comparison.is_look());
  EXPECT_TRUE(comparison.is_finished());
  EXPECT_FALSE(comparison.is_settled());
  EXPECT_THAT(
      [&] {
        comparison.add({{"sure", 0}});
      },
      ::testing::ThrowsMessage<std::logic_error>("a pair for a comparison that is finished"));
  EXPECT_EQ(comparison.verdicts()[1].pairs, 6);
}

TEST(PairedComparison, ConcludedTwiceOrAtALookIsJudgedOnce) {
  PairedComparison comparison;
  for (int pair = 1; pair <= 5; ++pair) comparison.add({{"a", pair % 2 == 0 ? 0.3 : -0.3}});
  comparison.conclude();
  comparison.conclude();
  EXPECT_THAT(comparison.looks(), ElementsAre(5));
}

TEST(PairedComparison, CountsWhatWasGivenUpInItsCorrection) {
  const auto confidence = [](bool other_is_there) {
    PairedComparison comparison({.rule = {.significance = 0.06, .threshold = 0.02}, .looks = {5}});
    for (int pair = 1; pair <= 5; ++pair) {
      const double undecided = pair % 2 == 0 ? 0.3 : -0.3;
      LogRatios ratios{{"a", undecided}};
      if (other_is_there) ratios["b"] = undecided;
      comparison.add(ratios);
      if (pair == 3) comparison.give_up("b");
    }
    return only(comparison).judgement->change.interval.confidence;
  };
  EXPECT_NEAR(confidence(false), 0.94, 1e-12);
  EXPECT_NEAR(confidence(true), 0.97, 1e-12);
}

/// Of three cases one has evidence at every look, which leaves two for the level of the open one,
/// whether or not the other one has its verdict.
TEST(PairedComparison, CountsDecidedCasesInTheCorrectionOfOpenOnes) {
  PairedComparison comparison({.rule = {.significance = 0.06, .threshold = 0.02}, .looks = {5, 7}});
  for (int pair = 1; pair <= 7; ++pair) {
    comparison.add({{"open", pair % 2 == 0 ? 0.3 : -0.3},
                    {"same", around(0, pair)},
                    {"slower", around(slower, pair)}});
  }
  const std::vector<PairedVerdict> verdicts = comparison.verdicts();
  ASSERT_THAT(verdicts, SizeIs(3));
  EXPECT_EQ(verdicts[0].judgement->verdict, Verdict::undecided);
  EXPECT_EQ(verdicts[1].judgement->verdict, Verdict::same);
  EXPECT_EQ(verdicts[2].judgement->verdict, Verdict::regressed);
  EXPECT_EQ(verdicts[0].pairs, 7);
  EXPECT_EQ(verdicts[1].pairs, 5);
  EXPECT_EQ(verdicts[2].pairs, 5);
  constexpr double of_look = 0.06 / 2;
  EXPECT_NEAR(verdicts[0].judgement->change.interval.confidence, 1 - of_look / 2, 1e-12);
  EXPECT_NEAR(verdicts[1].judgement->change.interval.confidence, 1 - of_look / 2, 1e-12);
  EXPECT_NEAR(verdicts[2].judgement->change.interval.confidence, 1 - of_look / 3, 1e-12);
}

TEST(PairedComparison, WithoutPairsHasNoVerdicts) {
  PairedComparison comparison;
  comparison.conclude();
  EXPECT_THAT(comparison.verdicts(), IsEmpty());
  EXPECT_FALSE(comparison.is_settled());
  EXPECT_TRUE(comparison.is_finished());
}

TEST(PairedComparison, LeavesOutWhatAPairLacks) {
  PairedComparison comparison;
  for (int pair = 1; pair <= 5; ++pair) {
    LogRatios ratios{{"a", around(slower, pair)}, {"broken", std::nan("")}};
    if (pair > 2) ratios["late"] = around(slower, pair);
    if (pair == 1) ratios["once"] = std::numeric_limits<double>::infinity();
    if (pair == 2) ratios["once"] = slower;
    comparison.add(ratios);
  }
  const std::vector<PairedVerdict> verdicts = comparison.verdicts();
  ASSERT_THAT(verdicts, SizeIs(3));
  EXPECT_EQ(verdicts[0].pairs, 5);
  EXPECT_EQ(verdicts[1].name, "late");
  EXPECT_EQ(verdicts[1].pairs, 3);
  EXPECT_EQ(verdicts[2].name, "once");
  EXPECT_FALSE(verdicts[2].judgement);
  EXPECT_FALSE(comparison.is_settled());
}

TEST(PairedComparison, JudgesTwoPairsByStudentsTOfOneDegreeOfFreedom) {
  PairedComparison comparison({.rule = {}, .looks = {2}});
  comparison.add({{"a", 0.1}});
  comparison.add({{"a", 0.3}});
  const PairedVerdict verdict = only(comparison);
  EXPECT_EQ(verdict.pairs, 2);
  ASSERT_TRUE(verdict.judgement);
  // Mean 0.2 and standard error 0.1; scipy 1.10: 2 * scipy.stats.t.sf(2, 1)
  EXPECT_NEAR(verdict.judgement->p_value, 0.2951672353008665, 1e-12);
  EXPECT_NEAR(verdict.judgement->change.value, std::expm1(0.2), 1e-12);
}

TEST(PairedComparison, RefusesLooksThatAreNone) {
  using Plan = PairedComparison::Plan;
  EXPECT_THAT([] { PairedComparison(Plan{.rule = {}, .looks = {}}); },
              ::testing::ThrowsMessage<std::invalid_argument>(
                  "looks are ascending numbers of pairs, the first at least 2"));
  EXPECT_THROW(PairedComparison(Plan{.rule = {}, .looks = {1, 5}}), std::invalid_argument);
  EXPECT_THROW(PairedComparison(Plan{.rule = {}, .looks = {5, 5}}), std::invalid_argument);
}

TEST(PairedComparison, SplitsItsSignificanceOverTheLooks) {
  PairedComparison comparison(
      {.rule = {.significance = 0.06, .threshold = 0.02}, .looks = {5, 7, 9}});
  for (int pair = 1; pair <= 5; ++pair) comparison.add({{"a", pair % 2 == 0 ? 0.3 : -0.3}});
  EXPECT_NEAR(only(comparison).judgement->change.interval.confidence, 0.98, 1e-12);
}

}  // namespace
}  // namespace parbench::compare
