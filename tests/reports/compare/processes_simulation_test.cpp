// How often verdicts by processes are wrong, and how often they find what is there.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reports/compare/comparison.h"
#include "reports/compare/processes.h"
#include "tests/reports/compare/made_report.h"
#include "tests/reports/compare/simulation.h"

namespace parbench::compare {
namespace {

struct NoisyProcesses {
  double deviation = 0.01;  // between processes, of the logarithm
  double shared = 0;        // how much of its variance all cases of a process have in common
  int processes = 5;        // of each side
  Tails tails = Tails::normal;
};

constexpr int cases = 10;

/// Of cases that take a second, but for the first, which takes `first` seconds.
report::Report simulated(const NoisyProcesses& noisy, Noise& noise, double first = 1) {
  std::vector<std::vector<double>> medians(cases);
  for (int process = 0; process < noisy.processes; ++process) {
    const double common = std::sqrt(noisy.shared) * noise();
    for (std::vector<double>& of_case : medians) {
      const double own = std::sqrt(1 - noisy.shared) * noise();
      of_case.push_back(std::exp(noisy.deviation * (common + own)));
    }
  }
  for (double& seconds : medians.front()) seconds *= first;
  return made_report(medians);
}

Comparison comparison_of(const report::Report& base, const report::Report& now,
                         const Rule& rule = {}) {
  return compare({"base", base}, {"now", now}, {.rule = rule, .allow_different_machine = false});
}

/// The share of comparisons of unchanged programs that call any case changed.
double false_alarms(const NoisyProcesses& noisy, const Rule& rule, int comparisons) {
  Noise noise(noisy.tails);
  int alarms = 0;
  for (int i = 0; i < comparisons; ++i) {
    const report::Report base = simulated(noisy, noise);
    const Comparison comparison = comparison_of(base, simulated(noisy, noise), rule);
    const bool any = comparison.count(Verdict::regressed) + comparison.count(Verdict::improved) > 0;
    alarms += any ? 1 : 0;
  }
  return static_cast<double>(alarms) / comparisons;
}

/// 5% and three standard errors of a share estimated from so many comparisons.
double share_bound(int comparisons) { return 0.05 + 3 * std::sqrt(0.05 * 0.95 / comparisons); }

constexpr int many = 2000;
constexpr Rule any_size{.significance = 0.05, .threshold = 0};

/// Without a least change every false evidence is an alarm: this is the level of the test itself.
TEST(ProcessSimulation, HoldsItsLevel) {
  for (const Tails tails : {Tails::normal, Tails::heavy}) {
    for (const int processes : {2, 5}) {
      const NoisyProcesses noisy{.processes = processes, .tails = tails};
      EXPECT_LE(false_alarms(noisy, any_size, many), share_bound(many))
          << processes << " processes";
    }
  }
}

TEST(ProcessSimulation, HoldsItsLevelForCasesThatMoveTogether) {
  for (const int processes : {2, 5}) {
    const NoisyProcesses noisy{.shared = 0.9, .processes = processes};
    EXPECT_LE(false_alarms(noisy, any_size, many), share_bound(many)) << processes << " processes";
  }
}

TEST(ProcessSimulation, WithALeastChangeIsHardlyEverWrong) {
  for (const Tails tails : {Tails::normal, Tails::heavy}) {
    EXPECT_LE(false_alarms({.tails = tails}, {}, many), 0.01);
  }
}

/// As long as processes differ no more than is assumed of them.
TEST(ProcessSimulation, OfOneProcessHoldsItsLevelByTheAssumption) {
  const NoisyProcesses noisy{.deviation = assumed_process_spread, .processes = 1};
  EXPECT_LE(false_alarms(noisy, any_size, many), share_bound(many));
}

/// The shares are those of scipy: ttest_ind(equal_var=False) and Holm's procedure on 20,000 draws
/// of normal deviates. Student's test, which takes the spreads for equal, would reach 0.998, 0.850
/// and 0.547 by the noncentral t distribution.
TEST(ProcessSimulation, FindsFivePercentAsOftenAsWelchsTestCan) {
  struct Power {
    double deviation;
    double share;
  };
  for (const auto& [deviation, share] : {Power{0.01, 0.990}, {0.015, 0.784}, {0.02, 0.467}}) {
    const NoisyProcesses noisy{.deviation = deviation};
    Noise noise(noisy.tails);
    int found = 0;
    for (int i = 0; i < many; ++i) {
      const report::Report base = simulated(noisy, noise);
      const Comparison comparison = comparison_of(base, simulated(noisy, noise, 1.05));
      const Row& first = comparison.rows.front();
      found += first.name == "made/one/n:0" && first.verdict() == Verdict::regressed ? 1 : 0;
    }
    const double error = std::sqrt(share * (1 - share) / many);
    EXPECT_NEAR(static_cast<double>(found) / many, share, 3 * error) << deviation;
  }
}

}  // namespace
}  // namespace parbench::compare
