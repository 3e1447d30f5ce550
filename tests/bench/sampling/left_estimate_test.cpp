// How far the time that is shown as left is from what a session then takes, in kinds of sessions
// that end for different reasons, on a machine whose speed varies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "bench/sampling/session/session.h"
#include "tests/bench/sampling/session_fixture.h"

namespace parbench {
namespace {

/// How long an execution takes at some time, over what it takes at best. Scatters from one 20 ms to
/// the next; in every twentieth of them, the machine is disturbed.
double slowness(double time, double scatter) {
  constexpr double constant_for = 0.02;
  constexpr double disturbed = 1.3;
  std::seed_seq seed{static_cast<std::uint64_t>(time / constant_for)};
  std::mt19937 random(seed);
  const bool is_disturbed = random() % 20 == 0;
  const double normal = std::normal_distribution<double>(0, scatter)(random);
  return std::exp(normal) * (is_disturbed ? disturbed : 1);
}

constexpr double wanted_error = 0.25;
/// Where sampling goes on until intervals are narrow, chance decides about a good part of its time.
constexpr double error_of_precision = 0.30;

/// What is wrong with the states that were shown.
struct Errors {
  double of_left = 0;      // mean over the time, as a share of the whole time
  double of_fraction = 0;  // mean over the time
};

class LeftEstimates : public fake::SessionTest {
 protected:
  /// Runs a case of each of these times, compared with the first.
  void run_cases(const std::vector<double>& seconds, double scatter) {
    progress.now = scenario.now();
    on_timeline = [](const report::CaseResult&, const Timeline&) {};
    std::vector<CaseSpec> specs;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const std::string name = i == 0 ? "base" : "case" + std::to_string(i);
      const double best = seconds[i];
      const auto now = [this, best, scatter] { return best * slowness(scenario.clock, scatter); };
      scenario.behaviours[name] = {.seconds = [now](int) { return now(); },
                                   .task_seconds = {best},
                                   .cost_seconds = 1.5 * best,
                                   .recorded_seconds = [now](int) { return now(); }};
      specs.push_back(fake::FakeScenario::spec(name));
    }
    (void)run(specs);
  }

  [[nodiscard]] Errors errors() const {
    Errors sum;
    double weights = 0;
    const double end = scenario.clock;
    for (std::size_t i = 0; i < progress.states.size(); ++i) {
      const ProgressState& state = progress.states[i];
      if (!state.fraction) continue;
      const double time = progress.times[i];
      const double shown_for = (i + 1 < progress.times.size() ? progress.times[i + 1] : end) - time;
      weights += shown_for;
      sum.of_left += shown_for * std::abs(*state.seconds_left - (end - time)) / end;
      sum.of_fraction += shown_for * std::abs(*state.fraction - time / end);
    }
    return {sum.of_left / weights, sum.of_fraction / weights};
  }

  void expect_honest(double max_error) {
    const Errors found = errors();
    RecordProperty("error_of_left", std::to_string(found.of_left));
    RecordProperty("error_of_fraction", std::to_string(found.of_fraction));
    EXPECT_LT(found.of_left, max_error);
    EXPECT_LT(found.of_fraction, max_error);
    std::vector<double> fractions;
    for (const ProgressState& state : progress.states) {
      if (state.fraction) fractions.push_back(*state.fraction);
    }
    EXPECT_TRUE(std::ranges::is_sorted(fractions));
    const auto still = std::ranges::adjacent_find(fractions);
    EXPECT_TRUE(still == fractions.end() || *still > 0.98) << "stands still at " << *still;
  }
};

TEST_F(LeftEstimates, AreCloseWhereTheTimeOfTheRunEndsIt) {
  options.total_seconds = 180;
  run_cases({1.65, 1.64, 1.45, 1.31, 1.33, 1.39, 1.64}, 0.05);
  EXPECT_GT(scenario.clock, 120);
  expect_honest(wanted_error);
}

TEST_F(LeftEstimates, AreCloseWhereTheTimeOfEachCaseEndsIt) {
  run_cases({0.9, 0.7, 0.5, 0.11}, 0.05);
  EXPECT_GT(scenario.clock, 60);
  expect_honest(wanted_error);
}

TEST_F(LeftEstimates, AreCloseWhereThePrecisionEndsIt) {
  options.max_seconds = std::numeric_limits<double>::infinity();
  run_cases({0.5, 0.4, 0.6, 0.3, 0.5}, 0.01);
  expect_honest(error_of_precision);
}

TEST_F(LeftEstimates, AreCloseForShortCases) {
  options.total_seconds = 180;
  std::vector<double> seconds;
  for (int i = 1; i <= 12; ++i) seconds.push_back(0.004 * i);
  run_cases(seconds, 0.02);
  expect_honest(error_of_precision);
}

TEST_F(LeftEstimates, AreCloseForAFixedCount) {
  options.fixed_samples = 10;
  options.max_seconds = std::numeric_limits<double>::infinity();
  run_cases({1.6, 0.4, 0.2}, 0.05);
  expect_honest(wanted_error);
}

}  // namespace
}  // namespace parbench
