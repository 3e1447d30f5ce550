// The sampler within the time of all cases, and from the samples of an earlier part of a run.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "bench/sampling/sampler.h"
#include "tests/bench/sampling/sampled_machine.h"

namespace parbench {
namespace {

using test::Machine;

TEST(SamplerTime, TheTotalEndsCasesBeforeTheirThirdSample) {
  SamplerOptions options;
  options.total_seconds = 21 + 7 * 3.0 + 5;
  Machine machine(options, std::vector<SamplerCase>(7, {3.0, 3.0}), [](auto, auto) { return 3.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_LE(machine.clock + 21, options.total_seconds);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(machine.count(i), 1);
    EXPECT_EQ(machine.sampler.stopped_because(i), "total-time");
  }
}

TEST(SamplerTime, AFirstRoundThatDoesNotFitTakesTheCasesThatDo) {
  SamplerOptions options;
  options.total_seconds = 14.5;
  Machine machine(options, {{1.0, 1.0}, {10.0, 10.0}, {1.0, 1.0}},
                  [](std::size_t index, auto) { return index == 1 ? 10.0 : 1.0; });
  // Whatever the order of the round, the first of all samples is taken.
  ASSERT_TRUE(machine.run());
  if (machine.count(1) == 0) {
    EXPECT_EQ(machine.count(0), 1);
    EXPECT_EQ(machine.count(2), 1);
    EXPECT_LE(machine.clock + 12, 14.5);
  } else {
    EXPECT_EQ(machine.measurements.size(), 1U);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(machine.sampler.stopped_because(i), "total-time");
  }
}

TEST(SamplerTime, AFirstRoundThatDoesNotFitTakesBaselinesBeforeTheirCases) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SamplerOptions options;
    options.seed = seed;
    options.total_seconds = 6 + 4.5;  // of which 6 s are warm-up
    std::vector<SamplerCase> cases(6, {1.0, 1.0});
    for (std::size_t i = 0; i < 3; ++i) cases[i].compared_with = {i + 3};
    Machine machine(options, cases, [](auto, auto) { return 1.0; });
    ASSERT_TRUE(machine.run());
    ASSERT_EQ(machine.measurements.size(), 4U);
    for (const std::size_t index : {0U, 2U}) {
      EXPECT_EQ(machine.measurements[index].index, machine.measurements[index + 1].index + 3)
          << "so that there are two ratios, seed " << seed;
    }
  }
}

/// Three samples would fit: the third one would have nothing to be compared with.
TEST(SamplerTime, AFirstRoundTakesACaseAndItsBaselineOrNeither) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SamplerOptions options;
    options.seed = seed;
    options.total_seconds = 6 + 3.5;  // of which 6 s are warm-up
    std::vector<SamplerCase> cases(6, {1.0, 1.0});
    for (std::size_t i = 0; i < 3; ++i) cases[i].compared_with = {i + 3};
    Machine machine(options, cases, [](auto, auto) { return 1.0; });
    ASSERT_TRUE(machine.run());
    ASSERT_EQ(machine.measurements.size(), 2U) << seed;
    EXPECT_EQ(machine.measurements[0].index, machine.measurements[1].index + 3) << seed;
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(machine.sampler.stopped_because(i), "total-time");
    }
  }
}

TEST(SamplerTime, TheFirstPairIsTakenHoweverShortTheTotal) {
  SamplerOptions options;
  options.total_seconds = 1;
  std::vector<SamplerCase> cases(3, {2.0, 2.0});
  cases[0].compared_with = {2};
  cases[1].compared_with = {2};
  Machine machine(options, cases, [](auto, auto) { return 2.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(2), 1) << "the baseline";
  EXPECT_EQ(machine.count(0) + machine.count(1), 1);
}

TEST(SamplerTime, OneSampleIsTakenHoweverShortTheTotal) {
  SamplerOptions options;
  options.total_seconds = 1;
  Machine machine(options, {{2.0, 2.0}, {2.0, 2.0}}, [](auto, auto) { return 2.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0) + machine.count(1), 1);
}

TEST(SamplerTime, TheTotalCutsAFixedNumberOfSamples) {
  SamplerOptions options;
  options.fixed_samples = 10;
  options.max_seconds = std::numeric_limits<double>::infinity();
  options.total_seconds = 6;
  Machine machine(options, {{1.0, 1.0}}, [](auto, auto) { return 1.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), 5);
  EXPECT_EQ(machine.sampler.stopped_because(0), "total-time");
}

TEST(SamplerTime, KnowsWhetherThereIsTimeForSomethingBesideSamples) {
  SamplerOptions options;
  options.total_seconds = 20;
  Machine machine(options, {{1.0, 1.0}, {2.0, 2.0}},
                  [](std::size_t index, auto) { return index == 0 ? 1.0 : 2.0; });
  EXPECT_TRUE(machine.sampler.has_time_for(17, 0));
  EXPECT_FALSE(machine.sampler.has_time_for(17.5, 0)) << "3 s have gone into warm-up";
  EXPECT_TRUE(machine.sampler.has_time_for(8, 3)) << "three samples of each take 9 s";
  EXPECT_FALSE(machine.sampler.has_time_for(8.5, 3));
  machine.run(2);
  EXPECT_TRUE(machine.sampler.has_time_for(8, 3)) << "of which one is taken";
  EXPECT_FALSE(machine.sampler.has_time_for(8.5, 3));
  EXPECT_TRUE(machine.sampler.has_time_for(14, 1));
}

TEST(SamplerTime, GoesOnFromEarlierSamples) {
  SamplerOptions options;
  options.max_seconds = 1000;
  options.total_seconds = 8;
  const std::vector<report::Sample> earlier{{1.0, 1.0, 1, 0}, {1.0, 1.0, 1, 1}, {1.0, 1.0, 1, 4}};
  Machine machine(options, {{1.0, 1.0, {}, earlier, ""}, {1.0, 1.0, {}, earlier, "max-time"}},
                  [](auto, auto) { return 1.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), 6);
  EXPECT_EQ(machine.sampler.stopped_because(0), "precision");
  EXPECT_EQ(machine.measurements.front().round, 5);
  EXPECT_EQ(machine.count(1), 3) << "it had come to its end";
  EXPECT_EQ(machine.sampler.stopped_because(1), "max-time");
}

TEST(SamplerTime, CasesWithoutSamplesComeFirst) {
  SamplerOptions options;
  options.total_seconds = 7.5;  // of which 6 s are warm-up
  const std::vector<report::Sample> earlier{{1.0, 1.0, 1, 0}, {1.0, 1.0, 1, 1}};
  std::vector<SamplerCase> cases(6, {1.0, 1.0, {}, earlier, ""});
  cases[3].samples.clear();
  Machine machine(options, cases, [](auto, auto) { return 1.0; });
  ASSERT_TRUE(machine.run());
  ASSERT_EQ(machine.measurements.size(), 1U) << "there is no time for a whole round";
  EXPECT_EQ(machine.measurements.front().index, 3U);
}

TEST(SamplerTime, EarlierSamplesCountAgainstTheTimeOfTheirCaseOnly) {
  SamplerOptions options;
  options.max_seconds = 6;
  options.total_seconds = 100;
  const std::vector<report::Sample> earlier{{1.0, 1.0, 2, 0}, {1.0, 1.0, 2, 1}};
  Machine machine(options, {{1.0, 1.0, {}, earlier, ""}}, [](auto, auto) { return 0.5; });
  EXPECT_TRUE(machine.sampler.has_time_for(99, 0)) << "one second has gone into warm-up";
  EXPECT_FALSE(machine.sampler.has_time_for(99.5, 0));
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), 3) << "of 6 s, 5 s were spent";
  EXPECT_EQ(machine.sampler.stopped_because(0), "max-time");
}

TEST(SamplerTime, TheSpreadOfFewSamplesShowsHowManyAreNeeded) {
  SamplerOptions options;
  options.precision = 0.02;
  options.max_seconds = 1000;
  Machine steady(options, {{1.0, 1.0}}, [](auto, auto) { return 1.0; });
  Machine noisy(options, {{1.0, 1.0}}, [](auto, int i) { return i % 2 == 0 ? 1.0 : 1.2; });
  steady.run(3);
  noisy.run(3);
  EXPECT_DOUBLE_EQ(steady.sampler.seconds_left(), 3);
  EXPECT_GT(noisy.sampler.seconds_left(), 50);
}

}  // namespace
}  // namespace parbench
