// How presets and flags set the limits of sampling.
#include "bench/cli/sampler_options.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/bench/fake_scenario.h"

namespace parbench {
namespace {

using fake::FakeScenario;

class SamplerOptionsTest : public testing::Test {
 protected:
  SamplerOptionsTest() { scenario.published = {10, 3}; }
  [[nodiscard]] SamplerOptions resolved() const {
    return sampler_options(options, flags, scenario, 150);
  }
  FakeScenario scenario;
  RunOptions options;
  BenchmarkFlags flags;
};

TEST_F(SamplerOptionsTest, QuickIsAdaptiveAndEnds) {
  const SamplerOptions result = resolved();
  EXPECT_EQ(result.fixed_samples, 0);
  EXPECT_EQ(result.fixed_iterations, 0);
  EXPECT_EQ(result.min_samples, 6);
  EXPECT_DOUBLE_EQ(result.precision, 0.01);
  EXPECT_DOUBLE_EQ(result.total_seconds, 150);
}

TEST_F(SamplerOptionsTest, SeedIsThePublishedNumber) {
  options.preset = Preset::published;
  const SamplerOptions result = resolved();
  EXPECT_EQ(result.fixed_samples, 10);
  EXPECT_EQ(result.fixed_iterations, 3);
  EXPECT_TRUE(std::isinf(result.max_seconds));
}

TEST_F(SamplerOptionsTest, OneOfSeveralProcessesHasItsShareOfTheTime) {
  options.processes = 5;
  EXPECT_DOUBLE_EQ(resolved().total_seconds, 150) << "of the whole run";
  options.process = 2;
  const SamplerOptions share = resolved();
  EXPECT_TRUE(std::isinf(share.total_seconds)) << "who starts it gives it a limit";
  EXPECT_DOUBLE_EQ(share.max_seconds, 4);
  EXPECT_EQ(share.floor_samples, 1) << "five of them are more than three";
  EXPECT_EQ(share.min_samples, 6);
  EXPECT_NE(share.seed, options.seed) << "its rounds have another order";
  options.processes = 2;
  options.process = 0;
  EXPECT_EQ(resolved().floor_samples, 2);
}

TEST_F(SamplerOptionsTest, AProfileIsAFewExecutions) {
  options.for_profiler = true;
  EXPECT_EQ(resolved().fixed_samples, 3);
  EXPECT_EQ(resolved().fixed_iterations, 1);
  EXPECT_TRUE(resolved().for_profiler);
  options.preset = Preset::published;
  EXPECT_EQ(resolved().fixed_samples, 3);
  flags.repetitions = 5;
  EXPECT_EQ(resolved().fixed_samples, 5);
}

TEST_F(SamplerOptionsTest, PrecisionMakesSeedAdaptive) {
  options.preset = Preset::published;
  options.precision_percent = 0.5;
  const SamplerOptions result = resolved();
  EXPECT_EQ(result.fixed_samples, 0);
  EXPECT_EQ(result.fixed_iterations, 3);
  EXPECT_DOUBLE_EQ(result.precision, 0.005);
  EXPECT_FALSE(std::isinf(result.max_seconds));
}

TEST_F(SamplerOptionsTest, MaxTimeIsOfOneCaseAndReplacesTheTotal) {
  options.max_time_seconds = 2.5;
  const SamplerOptions result = resolved();
  EXPECT_DOUBLE_EQ(result.max_seconds, 2.5);
  EXPECT_TRUE(std::isinf(result.total_seconds));
}

TEST_F(SamplerOptionsTest, MaxTotalTimeIsThatOfTheRunWhateverElseIsGiven) {
  options.max_total_time_seconds = 30;
  EXPECT_DOUBLE_EQ(resolved().total_seconds, 30);
  EXPECT_DOUBLE_EQ(resolved().max_seconds, 20) << "of one case, as before";
  options.max_time_seconds = 2.5;
  options.preset = Preset::published;
  EXPECT_DOUBLE_EQ(resolved().total_seconds, 30);
  options.processes = 5;
  options.process = 2;
  EXPECT_DOUBLE_EQ(resolved().total_seconds, 30) << "its own";
}

TEST_F(SamplerOptionsTest, BenchmarkRepetitionsAreExact) {
  flags.repetitions = 4;
  flags.min_time_seconds = 0.5;
  const SamplerOptions result = resolved();
  EXPECT_EQ(result.fixed_samples, 4);
  EXPECT_DOUBLE_EQ(result.min_sample_seconds, 0.5);
}

}  // namespace
}  // namespace parbench
