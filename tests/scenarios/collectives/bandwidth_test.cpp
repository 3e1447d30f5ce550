// Bus bandwidths as nccl-tests defines them, and the fit of latency and bandwidth.
#include "scenarios/collectives/bandwidth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace parbench::test {
namespace {

TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(Collective::all_reduce, 2), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::all_reduce, 8), 1.75);
  for (const Collective one :
       {Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all}) {
    EXPECT_DOUBLE_EQ(bus_factor(one, 8), 0.875);
  }
  for (const Collective one : {Collective::broadcast, Collective::reduce, Collective::send_recv}) {
    EXPECT_DOUBLE_EQ(bus_factor(one, 8), 1);
  }
}

TEST(LatencyFit, RecoversALineAndItsErrors) {
  // Errors of 1 at x = 0, 1, 2 of a line: σ² of the slope is 1/Σ(x − 1)² = 1/2, of the intercept
  // 1/3 + 1/2.
  const auto fit = fit_latency({{0, 5, 1}, {1, 7, 1}, {2, 9, 1}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->latency, 5, 1e-12);
  EXPECT_NEAR(fit->seconds_per_byte, 2, 1e-12);
  EXPECT_NEAR(fit->seconds_per_byte_error, std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(fit->latency_error, std::sqrt(1.0 / 3 + 0.5), 1e-12);
  EXPECT_NEAR(fit->bandwidth(), 0.5, 1e-12);
  EXPECT_NEAR(fit->bandwidth_error(), std::sqrt(0.5) / 4, 1e-12);
}

TEST(LatencyFit, TrustsPreciseTimesMoreThanOthers) {
  const auto fit = fit_latency({{0, 1, 1e-3}, {10, 11, 1e-3}, {20, 100, 1e3}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->latency, 1, 1e-2);
  EXPECT_NEAR(fit->seconds_per_byte, 1, 1e-2);
}

TEST(LatencyFit, EnlargesItsErrorsWhereTimesAreNoLine) {
  const auto straight = fit_latency({{0, 0, 1e-3}, {1, 1, 1e-3}, {2, 2, 1e-3}});
  const auto bent = fit_latency({{0, 0, 1e-3}, {1, 1.5, 1e-3}, {2, 2, 1e-3}});
  ASSERT_TRUE(straight && bent);
  EXPECT_GT(bent->latency_error, 100 * straight->latency_error);
}

TEST(LatencyFit, KnowsHowFarTimesLieFromTheLine) {
  const auto straight = fit_latency({{0, 5, 1}, {1, 7, 1}, {2, 9, 1}});
  const auto bent = fit_latency({{0, 5, 1}, {1, 10, 1}, {2, 9, 1}});
  ASSERT_TRUE(straight && bent);
  EXPECT_NEAR(straight->largest_deviation, 0, 1e-12);
  EXPECT_NEAR(bent->largest_deviation, 0.25, 1e-12) << "the line has 6, 8 and 10, the times 10";
}

TEST(LatencyFit, CoversTheTruthAsOftenAsItsErrorsSay) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> noise;
  int covered = 0;
  constexpr int runs = 2000;
  for (int run = 0; run < runs; ++run) {
    std::vector<TimeOfSize> times;
    for (int doublings = 0; doublings < 17; ++doublings) {
      const double bytes = std::ldexp(1e3, doublings);
      const double seconds = 10e-6 + bytes / 8e9;
      const double error = 0.02 * seconds;
      times.push_back({bytes, seconds + error * noise(generator), error});
    }
    const auto fit = fit_latency(times);
    ASSERT_TRUE(fit);
    if (std::abs(fit->latency - 10e-6) < 2 * fit->latency_error) ++covered;
  }
  EXPECT_GT(covered, runs * 94 / 100);  // 95.4% and more: errors are never made smaller
  EXPECT_LT(covered, runs * 99 / 100);
}

TEST(LatencyFit, NeedsThreeSizesAndGrowingTimes) {
  EXPECT_FALSE(fit_latency({{1, 1, 1}, {2, 2, 1}, {2, 2.1, 1}}));
  EXPECT_FALSE(fit_latency({{1, 3, 1}, {2, 2, 1}, {3, 1, 1}}));
}

}  // namespace
}  // namespace parbench::test
