// How often the truly fastest case is among those that are kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "reports/statistics/fastest.h"

namespace parbench {
namespace {

/// Times with noise that all cases of a round share, noise of their own, and now and then a sample
/// that takes half as long again. The first case has samples that take twice as long, with a
/// probability.
class Machine {
 public:
  explicit Machine(double doubled = 0) : doubled_(doubled) {}

  std::vector<std::vector<report::Sample>> sample(const std::vector<double>& seconds, int rounds) {
    std::vector<std::vector<report::Sample>> cases(seconds.size());
    for (int round = 0; round < rounds; ++round) {
      const double common = noise_(generator_);
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        double burst = uniform_(generator_) < 0.1 ? std::log(1.5) : 0;
        if (i == 0 && doubled_ > 0 && uniform_(generator_) < doubled_) burst += std::log(2);
        const double log_seconds = std::log(seconds[i]) + 3 * common + noise_(generator_) + burst;
        cases[i].push_back({.seconds = std::exp(log_seconds), .round = round});
      }
    }
    return cases;
  }

 private:
  double doubled_;
  std::mt19937_64 generator_{11};
  std::normal_distribution<double> noise_{0, 0.02};
  std::uniform_real_distribution<double> uniform_{0, 1};
};

/// How often a case is kept.
double share_with(std::size_t index, const std::vector<double>& seconds, int rounds,
                  Machine machine) {
  constexpr int runs = 2000;
  int kept = 0;
  for (int run = 0; run < runs; ++run) {
    const auto cases = machine.sample(seconds, rounds);
    const auto fastest = possibly_fastest(std::vector<Samples>(cases.begin(), cases.end()));
    kept += static_cast<int>(std::ranges::count(fastest, index));
  }
  return static_cast<double>(kept) / runs;
}

double share_with_the_fastest(const std::vector<double>& seconds, int rounds) {
  const auto fastest =
      static_cast<std::size_t>(std::ranges::min_element(seconds) - seconds.begin());
  return share_with(fastest, seconds, rounds, Machine());
}

TEST(PossiblyFastestSimulation, KeepsTheFastestInAtLeast95Percent) {
  for (const int rounds : {3, 6, 12, 40}) {
    EXPECT_GE(share_with_the_fastest({1, 1, 1, 1, 1}, rounds), 0.95) << rounds;
    EXPECT_GE(share_with_the_fastest({1, 1.005, 1.01, 1.1}, rounds), 0.95) << rounds;
    EXPECT_GE(share_with_the_fastest({1, 1.001}, rounds), 0.95) << rounds;
  }
}

TEST(PossiblyFastestSimulation, KeepsTheFastestWithDisturbancesOfItsOwn) {
  for (const int rounds : {3, 6, 12, 40}) {
    EXPECT_GE(share_with(0, {1, 1.1}, rounds, Machine(0.05)), 0.95) << rounds;
    EXPECT_GE(share_with(0, {1, 1.05, 1.1}, rounds, Machine(0.05)), 0.95) << rounds;
  }
}

TEST(PossiblyFastestSimulation, MostlyKeepsWhatIsFasterInMostRoundsAndSlowerOnAverage) {
  for (const int rounds : {3, 6, 12, 40}) {
    EXPECT_GE(share_with(0, {1, 1.1}, rounds, Machine(0.3)), 0.8) << rounds;
  }
}

TEST(PossiblyFastestSimulation, LeavesOutWhatTakesThreeTenthsLonger) {
  Machine machine;
  int kept = 0;
  for (int run = 0; run < 500; ++run) {
    const auto cases = machine.sample({1, 1.3}, 12);
    kept += static_cast<int>(
        possibly_fastest(std::vector<Samples>(cases.begin(), cases.end())).size() > 1);
  }
  EXPECT_LE(kept, 25);
}

TEST(PossiblyFastestSimulation, LeavesOutWhatTakesThreeTenthsLongerBesideOtherLoad) {
  std::mt19937_64 generator(7);
  std::student_t_distribution<double> heavy(1.5);  // its variance is infinite
  int kept = 0;
  for (int run = 0; run < 500; ++run) {
    std::vector<std::vector<report::Sample>> cases(2);
    for (int round = 0; round < 40; ++round) {
      cases[0].push_back({.seconds = std::exp(0.1 * heavy(generator)), .round = round});
      cases[1].push_back({.seconds = 1.3 * std::exp(0.1 * heavy(generator)), .round = round});
    }
    kept += static_cast<int>(
        possibly_fastest(std::vector<Samples>(cases.begin(), cases.end())).size() > 1);
  }
  EXPECT_LE(kept, 25);
}

}  // namespace
}  // namespace parbench
