// How often verdicts by pairs are wrong, and how often they find what is there.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reports/compare/paired.h"
#include "tests/reports/compare/simulation.h"

namespace parbench::compare {
namespace {

/// How many verdicts of each kind simulated comparisons end with.
struct Verdicts {
  int regressed = 0;
  int improved = 0;
  int same = 0;
  int undecided = 0;
  int alarms = 0;    // comparisons that call any case changed
  double pairs = 0;  // on average

  [[nodiscard]] double cases() const { return regressed + improved + same + undecided; }
};

struct NoisyPairs {
  double change = 0;     // of every case
  double deviation = 0;  // of the logarithm of a pair's ratio
  double shared = 0;     // how much of its variance all cases of a pair have in common
  int cases = 10;
  Tails tails = Tails::normal;
  int comparisons = 1000;
  double threshold = 0.02;
};

void count(Verdict verdict, Verdicts& verdicts) {
  switch (verdict) {
    case Verdict::regressed:
      ++verdicts.regressed;
      break;
    case Verdict::improved:
      ++verdicts.improved;
      break;
    case Verdict::same:
      ++verdicts.same;
      break;
    case Verdict::undecided:
      ++verdicts.undecided;
      break;
  }
}

Verdicts simulated(const NoisyPairs& noisy) {
  Noise noise(noisy.tails);
  Verdicts verdicts;
  for (int i = 0; i < noisy.comparisons; ++i) {
    PairedComparison::Plan plan;
    plan.rule.threshold = noisy.threshold;
    PairedComparison comparison(plan);
    while (!comparison.is_finished()) {
      const double common = std::sqrt(noisy.shared) * noise();
      LogRatios pair;
      for (int n = 0; n < noisy.cases; ++n) {
        const double own = std::sqrt(1 - noisy.shared) * noise();
        pair[std::to_string(n)] = std::log1p(noisy.change) + noisy.deviation * (common + own);
      }
      comparison.add(pair);
    }
    const int changed = verdicts.regressed + verdicts.improved;
    for (const PairedVerdict& verdict : comparison.verdicts()) {
      count(verdict.judgement->verdict, verdicts);
    }
    if (verdicts.regressed + verdicts.improved > changed) ++verdicts.alarms;
    verdicts.pairs += static_cast<double>(comparison.pairs()) / noisy.comparisons;
  }
  return verdicts;
}

TEST(PairedSimulation, CallsAtMostTwoPercentOfUnchangedCases) {
  for (const Tails tails : {Tails::normal, Tails::heavy}) {
    for (const double deviation : {0.005, 0.02, 0.04}) {
      for (const int cases : {1, 10}) {
        const Verdicts verdicts =
            simulated({.deviation = deviation, .cases = cases, .tails = tails});
        EXPECT_LE(verdicts.regressed + verdicts.improved, 0.02 * verdicts.cases());
      }
    }
  }
}

/// 2% and three standard errors of a share estimated from so many comparisons.
double at_most(int comparisons) {
  return 0.02 * comparisons + 3 * std::sqrt(0.02 * 0.98 * comparisons);
}

/// Whole comparisons, not cases: the level is that of a family, also of cases that move together.
/// Without a least change every false evidence is an alarm.
TEST(PairedSimulation, HoldsItsLevelForCasesThatMoveTogether) {
  for (const double shared : {0.0, 0.5, 0.95}) {
    const NoisyPairs noisy{.deviation = 0.04, .shared = shared, .cases = 10, .threshold = 0};
    EXPECT_LE(simulated(noisy).alarms, at_most(noisy.comparisons)) << shared;
  }
}

TEST(PairedSimulation, FindsFivePercentWithinItsPairs) {
  for (const Tails tails : {Tails::normal, Tails::heavy}) {
    const Verdicts verdicts = simulated({.change = 0.05, .deviation = 0.02, .tails = tails});
    EXPECT_GE(verdicts.regressed, 0.95 * verdicts.cases());
    EXPECT_LT(verdicts.pairs, 15);
    EXPECT_EQ(verdicts.improved, 0);
  }
}

TEST(PairedSimulation, NeverCallsASlowdownAnImprovement) {
  for (const Tails tails : {Tails::normal, Tails::heavy}) {
    const Verdicts verdicts = simulated({.change = 0.025, .deviation = 0.02, .tails = tails});
    EXPECT_EQ(verdicts.improved, 0);
    EXPECT_GE(verdicts.regressed, 0.90 * verdicts.cases());
  }
}

TEST(PairedSimulation, SettlesQuietCasesEarly) {
  const Verdicts verdicts = simulated({.deviation = 0.005, .cases = 10});
  EXPECT_GE(verdicts.same, 0.999 * verdicts.cases());
  EXPECT_LT(verdicts.pairs, 12);
}

}  // namespace
}  // namespace parbench::compare
