// The sampler's decisions, driven by cases whose times are made up.
#include "bench/sampling/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/bench/sampling/sampled_machine.h"

namespace parbench {
namespace {

using test::Machine;
using test::noisy;

TEST(Sampler, StopsAtMinSamplesWhenTheCaseIsSteady) {
  Machine machine({}, {{1.0, 1.0}}, [](auto, auto) { return 1.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), 6);
  EXPECT_EQ(machine.sampler.stopped_because(0), "precision");
  EXPECT_EQ(machine.sampler.reached_precision(0), 0.0);
}

TEST(Sampler, FewerThanSixSamplesHaveNoPrecision) {
  SamplerOptions options;
  options.min_samples = 2;
  Machine machine(options, {{1.0, 1.0}}, [](auto, auto) { return 1.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), 6);
}

TEST(Sampler, MinSamplesIsHonoured) {
  SamplerOptions options;
  options.min_samples = 11;
  Machine machine(options, {{1.0, 1.0}}, [](auto, auto) { return 1.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), 11);
}

TEST(Sampler, NoiseTakesMoreSamplesUntilTheIntervalIsNarrow) {
  SamplerOptions options;
  options.precision = 0.02;
  options.max_seconds = 1000;
  Machine machine(options, {{1.0, 1.0}}, [](auto, int i) { return noisy(i, 1.0, 0.05); });
  ASSERT_TRUE(machine.run());
  EXPECT_GT(machine.count(0), 6);
  EXPECT_EQ(machine.sampler.stopped_because(0), "precision");
  EXPECT_LE(*machine.sampler.reached_precision(0), 0.02);
}

TEST(Sampler, NoSampleIsBegunThatWouldPassMaxTime) {
  SamplerOptions options;
  options.precision = 1e-6;
  options.max_seconds = 10;
  Machine machine(options, {{1.0, 1.0}}, [](auto, int i) { return noisy(i, 1.0, 0.01); });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.sampler.stopped_because(0), "max-time");
  // The verification run counts as well; the forecast is as good as the case is steady.
  EXPECT_LE(machine.spent[0] + 1.0, 10 * 1.01);
  EXPECT_GE(machine.count(0), 8);
}

TEST(Sampler, ThreeSamplesEvenWhenTimeIsShort) {
  SamplerOptions options;
  options.max_seconds = 5;
  Machine machine(options, {{2.0, 2.0}}, [](auto, auto) { return 2.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), 3);
  EXPECT_EQ(machine.sampler.stopped_because(0), "max-time");
}

TEST(Sampler, TwiceMaxTimeIsTheEndAfterOneSample) {
  SamplerOptions options;
  options.max_seconds = 5;
  Machine machine(options, {{60.0, 60.0}}, [](auto, auto) { return 60.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), 1);
  EXPECT_EQ(machine.sampler.stopped_because(0), "max-time");
}

TEST(Sampler, AllCasesTogetherKeepTheTotal) {
  SamplerOptions options;
  options.precision = 1e-6;
  options.total_seconds = 100;
  std::vector<SamplerCase> cases(7, {3.0, 3.0});
  Machine machine(options, cases, [](auto, int i) { return noisy(i, 3.0, 0.01); });
  ASSERT_TRUE(machine.run());
  EXPECT_LE(machine.clock + 7 * 3.0, 100);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(machine.count(i), 3);
    EXPECT_EQ(machine.sampler.stopped_because(i), "total-time");
  }
}

TEST(Sampler, ExceedsTheTotalByTheMarginForTheWantedSamplesAlone) {
  SamplerOptions options;
  options.precision = 1e-6;
  options.total_seconds = 100;
  const auto samples = [&](double execution_seconds) {
    std::vector<SamplerCase> cases(2, {execution_seconds, execution_seconds});
    Machine machine(
        options, cases, [&](auto, int i) { return noisy(i, execution_seconds, 0.001); }, 10);
    EXPECT_TRUE(machine.run());
    return machine.count(0);
  };
  options.max_seconds = 100;
  EXPECT_EQ(samples(7.3), 6) << "two warm-ups and six rounds take 102 s";
  EXPECT_EQ(samples(5.1), 8) << "a ninth round would end at 102 s";
}

TEST(Sampler, WhatOneCaseLeavesOfTheTotalIsForTheOthers) {
  SamplerOptions options;
  options.total_seconds = 40;
  Machine machine(options, {{1.0, 1.0}, {1.0, 1.0}},
                  [](std::size_t index, int i) { return index == 0 ? 1.0 : noisy(i, 1.0, 0.2); });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), 6);
  EXPECT_GT(machine.count(1), 15);
}

TEST(Sampler, FixedCountIsExact) {
  SamplerOptions options;
  options.fixed_samples = 4;
  options.fixed_iterations = 7;
  options.max_seconds = std::numeric_limits<double>::infinity();
  Machine machine(options, {{1.0, 1.0}, {0.001, 0.001}},
                  [](std::size_t index, int i) { return noisy(i, index == 0 ? 1.0 : 0.001, 0.5); });
  ASSERT_TRUE(machine.run());
  for (const std::size_t index : {0U, 1U}) {
    EXPECT_EQ(machine.count(index), 4);
    EXPECT_EQ(machine.sampler.stopped_because(index), "fixed count");
    EXPECT_EQ(machine.sampler.samples(index).front().iterations, 7);
  }
  EXPECT_TRUE(std::ranges::all_of(machine.measurements, [](const Measurement& measurement) {
    return measurement.kind == MeasurementKind::sample;
  }));
}

TEST(Sampler, ShortExecutionsAreGathered) {
  Machine machine({}, {{1e-3, 1e-3}}, [](auto, auto) { return 10e-6; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.measurements.front().kind, MeasurementKind::warm_up);
  EXPECT_NEAR(static_cast<double>(machine.sampler.iterations(0)), 2000, 1);
  for (const auto& sample : machine.sampler.samples(0)) {
    EXPECT_GE(sample.seconds * static_cast<double>(sample.iterations), 0.02 * 0.999);
  }
}

std::vector<std::int64_t> warm_up_iterations(const Machine& machine) {
  std::vector<std::int64_t> iterations;
  for (const Measurement& measurement : machine.measurements) {
    if (measurement.kind != MeasurementKind::warm_up) continue;
    EXPECT_EQ(measurement.round, 0);
    iterations.push_back(measurement.iterations);
  }
  return iterations;
}

TEST(Sampler, WarmUpsGrowByAtMostAHundred) {
  Machine machine({}, {{1e-9, 1e-9}}, [](auto, auto) { return 1e-9; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(warm_up_iterations(machine), (std::vector<std::int64_t>{100, 10'000, 1'000'000}));
  EXPECT_EQ(machine.sampler.iterations(0), 1'000'000);
}

TEST(Sampler, ACaseThatKeepsBecomingFasterHasSixWarmUps) {
  double seconds = 1e-3;
  Machine machine({}, {{seconds, seconds}}, [&](auto, auto) { return seconds /= 4; });
  machine.run(7);
  EXPECT_EQ(warm_up_iterations(machine),
            (std::vector<std::int64_t>{20, 80, 320, 1280, 5120, 20480}));
  EXPECT_EQ(machine.measurements.back().kind, MeasurementKind::sample);
  EXPECT_EQ(machine.measurements.back().iterations, 81920);
}

TEST(Sampler, OneWarmUpIsEnoughIfItLastsHalfASample) {
  Machine enough({}, {{0.002, 0.002}}, [](auto, auto) { return 0.001; });
  enough.run();
  EXPECT_EQ(warm_up_iterations(enough), (std::vector<std::int64_t>{10}));
  EXPECT_EQ(enough.sampler.iterations(0), 20);
  Machine less({}, {{0.002, 0.002}}, [](auto, auto) { return 0.0009; });
  less.run();
  EXPECT_EQ(warm_up_iterations(less), (std::vector<std::int64_t>{10, 23}));
}

TEST(Sampler, AFirstExecutionIsTrustedFromFiveTimesASample) {
  Machine trusted({}, {{0.1, 0.1}}, [](auto, auto) { return 0.1; });
  trusted.run(1);
  EXPECT_EQ(trusted.measurements.front().kind, MeasurementKind::sample);
  Machine shorter({}, {{0.099, 0.099}}, [](auto, auto) { return 0.099; });
  shorter.run(1);
  EXPECT_EQ(shorter.measurements.front().kind, MeasurementKind::warm_up);
}

TEST(Sampler, ACaseThatFailsBeforeItsWarmUpHasNone) {
  Sampler sampler({}, {}, {{1e-3, 1e-3}});
  sampler.fail(0);
  EXPECT_FALSE(sampler.next().has_value());
}

TEST(Sampler, LimitsIncludeASampleThatEndsAtThem) {
  SamplerOptions options;
  options.max_seconds = 5;
  Machine single(options, {{1.0, 1.0}}, [](auto, auto) { return 1.0; });
  ASSERT_TRUE(single.run());
  EXPECT_EQ(single.count(0), 4) << "and the verification run";
  options.max_seconds = 6;
  Machine twice(options, {{4.0, 4.0}}, [](auto, auto) { return 4.0; });
  ASSERT_TRUE(twice.run());
  EXPECT_EQ(twice.count(0), 2);
  options.max_seconds = 1000;
  options.total_seconds = 10;
  Machine pair(options, {{1.0, 1.0}, {1.0, 1.0}}, [](auto, auto) { return 1.0; });
  ASSERT_TRUE(pair.run());
  EXPECT_EQ(pair.count(0), 4);
  EXPECT_EQ(pair.count(1), 4);
  EXPECT_EQ(pair.sampler.stopped_because(1), "total-time");
}

TEST(Sampler, AFirstExecutionOfMiddlingLengthIsNotTrusted) {
  // Cold, it took 50 ms: one execution would do. Warm, it takes 2 ms.
  Machine machine({}, {{0.050, 0.050}}, [](auto, auto) { return 0.002; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.sampler.iterations(0), 10);
}

TEST(Sampler, ASampleLastsItsTimeByTheHostsClock) {
  SamplerOptions options;
  options.min_sample_seconds = 0.02;
  Sampler sampler(options, {}, {{1e-6, 1e-3}});
  std::optional<Measurement> measurement = sampler.next();
  while (measurement && measurement->kind == MeasurementKind::warm_up) {
    const auto count = static_cast<double>(measurement->iterations);
    sampler.record(*measurement, {.seconds = 1e-6, .wall_seconds = 20e-6}, 20e-6 * count);
    measurement = sampler.next();
  }
  ASSERT_TRUE(measurement.has_value());
  EXPECT_EQ(measurement->iterations, 1000);
}

TEST(Sampler, LongExecutionsNeedNoMoreWarmUp) {
  Machine machine({}, {{0.5, 0.5}}, [](auto, auto) { return 0.5; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.measurements.front().kind, MeasurementKind::sample);
  EXPECT_EQ(machine.sampler.iterations(0), 1);
}

TEST(Sampler, ExecutionsThatTakeNoTimeEnd) {
  SamplerOptions options;
  options.fixed_samples = 3;
  Machine machine(options, {{0.0, 0.0}}, [](auto, auto) { return 0.0; });
  ASSERT_TRUE(machine.run(100));
  EXPECT_EQ(machine.count(0), 3);
}

TEST(Sampler, EveryRoundHasEachUnfinishedCaseOnce) {
  SamplerOptions options;
  options.fixed_samples = 20;
  options.max_seconds = std::numeric_limits<double>::infinity();
  Machine machine(options, std::vector<SamplerCase>(5, {1.0, 1.0}), [](auto, auto) { return 1.0; });
  ASSERT_TRUE(machine.run());
  std::map<int, std::set<std::size_t>> rounds;
  for (const Measurement& measurement : machine.measurements)
    EXPECT_TRUE(rounds[measurement.round].insert(measurement.index).second);
  ASSERT_EQ(rounds.size(), 20U);
  for (const auto& [round, cases] : rounds) EXPECT_EQ(cases.size(), 5U);
}

TEST(Sampler, NoCaseAlwaysFollowsTheSameOne) {
  SamplerOptions options;
  options.fixed_samples = 30;
  options.max_seconds = std::numeric_limits<double>::infinity();
  Machine machine(options, std::vector<SamplerCase>(4, {1.0, 1.0}), [](auto, auto) { return 1.0; });
  ASSERT_TRUE(machine.run());
  std::map<std::size_t, std::set<std::size_t>> predecessors;
  for (std::size_t i = 1; i < machine.measurements.size(); ++i) {
    predecessors[machine.measurements[i].index].insert(machine.measurements[i - 1].index);
  }
  for (const auto& [index, before] : predecessors) EXPECT_GE(before.size(), 3U) << index;
}

std::vector<std::size_t> order_with_seed(std::uint64_t seed) {
  SamplerOptions options;
  options.fixed_samples = 10;
  options.seed = seed;
  Machine machine(options, std::vector<SamplerCase>(4, {0.1, 0.1}), [](auto, auto) { return 0.1; });
  EXPECT_TRUE(machine.run());
  std::vector<std::size_t> order;
  for (const Measurement& measurement : machine.measurements) order.push_back(measurement.index);
  return order;
}

TEST(Sampler, TheOrderDependsOnTheSeedAlone) {
  EXPECT_EQ(order_with_seed(1), order_with_seed(1));
  EXPECT_NE(order_with_seed(1), order_with_seed(2));
}

TEST(Sampler, TheBaselineGoesOnWhileACaseIsComparedToIt) {
  SamplerOptions options;
  options.precision = 0.02;
  options.max_seconds = 1000;
  Machine machine(options, {{1.0, 1.0}, {1.0, 1.0, {0}}, {1.0, 1.0}},
                  [](std::size_t index, int i) { return index == 1 ? noisy(i, 1, 0.06) : 1.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(2), 6);  // steady, and no case's baseline
  EXPECT_GT(machine.count(1), 6);
  EXPECT_EQ(machine.count(0), machine.count(1));
  EXPECT_EQ(machine.sampler.stopped_because(0), "precision");
}

TEST(Sampler, EveryCaseGoesOnThatAnotherIsComparedWith) {
  SamplerOptions options;
  options.precision = 0.02;
  options.max_seconds = 1000;
  Machine machine(options, {{1.0, 1.0}, {1.0, 1.0}, {1.0, 1.0, {0, 1}}},
                  [](std::size_t index, int i) { return index == 2 ? noisy(i, 1, 0.06) : 1.0; });
  ASSERT_TRUE(machine.run());
  EXPECT_GT(machine.count(2), 6);
  EXPECT_EQ(machine.count(0), machine.count(2));
  EXPECT_EQ(machine.count(1), machine.count(2));
}

TEST(Sampler, TheBaselineKeepsToItsOwnTime) {
  SamplerOptions options;
  options.precision = 1e-6;
  options.max_seconds = 20;
  Machine machine(options, {{2.0, 2.0}, {0.5, 0.5, {0}}},
                  [](std::size_t index, int i) { return index == 0 ? 2.0 : noisy(i, 0.5, 0.1); });
  ASSERT_TRUE(machine.run());
  EXPECT_LE(machine.spent[0] + 2.0, 20);
  EXPECT_GT(machine.count(1), machine.count(0));
}

TEST(Sampler, AFailedCaseIsDroppedAndTheOthersGoOn) {
  Machine machine({}, {{1.0, 1.0}, {1.0, 1.0}}, [](auto, auto) { return 1.0; });
  machine.take(*machine.sampler.next());
  machine.sampler.fail(0);
  ASSERT_TRUE(machine.run());
  EXPECT_LE(machine.count(0), 1);
  EXPECT_EQ(machine.sampler.stopped_because(0), "");
  EXPECT_EQ(machine.count(1), 6);
}

TEST(Sampler, AWithdrawnCaseKeepsItsSamplesAndGivesNoMoreToOthers) {
  // Case 0 would be sampled on for case 1, which is compared with it.
  Machine machine({}, {{1.0, 1.0}, {1.0, 1.0, {0}}},
                  [](std::size_t index, int i) { return index == 0 ? 1.0 : noisy(i, 1.0, 0.1); });
  machine.run(4);
  const int held = machine.count(0);
  ASSERT_GT(held, 0);
  machine.sampler.withdraw(0);
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.count(0), held);
  EXPECT_EQ(machine.sampler.stopped_because(0), "device lost");
  EXPECT_GT(machine.count(1), held);
}

TEST(Sampler, AWithdrawnCaseThatHadEndedKeepsItsReason) {
  Machine machine({}, {{1.0, 1.0}}, [](auto, auto) { return 1.0; });
  ASSERT_TRUE(machine.run());
  const std::string reason = machine.sampler.stopped_because(0);
  machine.sampler.withdraw(0);
  EXPECT_EQ(machine.sampler.stopped_because(0), reason);
  EXPECT_NE(reason, "device lost");
}

TEST(Sampler, InterruptEndsEverythingAtOnce) {
  Machine machine({}, {{1.0, 1.0}, {1.0, 1.0}}, [](auto, auto) { return 1.0; });
  machine.run(3);
  machine.sampler.interrupt();
  EXPECT_FALSE(machine.sampler.next().has_value());
  EXPECT_EQ(machine.count(0) + machine.count(1), 3);
  EXPECT_EQ(machine.sampler.stopped_because(0), "unfinished");
  EXPECT_EQ(machine.sampler.stopped_because(1), "unfinished");
}

TEST(Sampler, TimeLeftOfAFixedCountIsExact) {
  SamplerOptions options;
  options.fixed_samples = 10;
  options.max_seconds = std::numeric_limits<double>::infinity();
  Machine machine(options, {{2.0, 2.0}}, [](auto, auto) { return 2.0; });
  EXPECT_DOUBLE_EQ(machine.sampler.seconds_left(), 20);
  machine.run(4);
  EXPECT_DOUBLE_EQ(machine.sampler.seconds_left(), 12);
  machine.run();
  EXPECT_DOUBLE_EQ(machine.sampler.seconds_left(), 0);
  EXPECT_DOUBLE_EQ(machine.sampler.spent_seconds(), 22);
}

TEST(Sampler, TimeLeftIsThatOfAtLeastOneSample) {
  SamplerOptions options;
  options.precision = 1e-6;
  options.max_seconds = 1000;
  const auto times = [](auto, int i) { return noisy(i, 1.0, 0.05); };
  Machine first(options, {{1.0, 1.0}}, times);
  first.run(6);
  options.precision = *first.sampler.reached_precision(0) / 1.001;
  Machine second(options, {{1.0, 1.0}}, times);
  second.run(6);
  ASSERT_EQ(second.sampler.stopped_because(0), "");
  EXPECT_DOUBLE_EQ(second.sampler.seconds_left(), second.sampler.samples(0).back().seconds);
}

/// A steady case that ends after six samples, and a noisy one that goes on after the first six
/// rounds, compared with it or not.
Machine after_six_rounds(SamplerOptions options, bool compared, double steady_seconds,
                         double noisy_seconds) {
  const std::vector<std::size_t> others(compared ? 1 : 0, 0);
  Machine machine(options,
                  {{steady_seconds, steady_seconds}, {noisy_seconds, noisy_seconds, others}},
                  [=](std::size_t index, int i) {
                    return index == 0 ? steady_seconds : noisy(i, noisy_seconds, 0.06);
                  });
  machine.run(12);
  return machine;
}

TEST(Sampler, TimeLeftCountsWhatIsSampledForOthers) {
  SamplerOptions options;
  options.precision = 0.02;
  options.max_seconds = 1000;
  const Machine apart = after_six_rounds(options, false, 1.0, 1.0);
  const Machine compared = after_six_rounds(options, true, 1.0, 1.0);
  ASSERT_EQ(compared.sampler.stopped_because(0), "precision");
  ASSERT_EQ(compared.sampler.stopped_because(1), "");
  const double latest = compared.sampler.samples(1).back().seconds;
  const double samples = apart.sampler.seconds_left() / latest;
  EXPECT_GT(samples, 6);
  EXPECT_NEAR(compared.sampler.seconds_left(), samples * (1.0 + latest), 1e-9);
}

TEST(Sampler, WhatIsSampledForOthersKeepsToItsOwnTime) {
  SamplerOptions options;
  options.precision = 1e-6;
  options.max_seconds = 16.5;
  const Machine machine = after_six_rounds(options, true, 2.0, 1.0);
  const double noisy_left = options.max_seconds - machine.sampler.spent_seconds() + 14;
  EXPECT_NEAR(machine.sampler.seconds_left(), noisy_left + 2.5, 1e-9) << "of 14 s spent of 16.5";
}

TEST(Sampler, ARoundCostsWhatIsSampledForOthersToo) {
  SamplerOptions options;
  options.precision = 1e-6;
  options.max_seconds = 1000;
  options.total_seconds = 58.5;
  Machine machine = after_six_rounds(options, true, 5.0, 1.0);
  ASSERT_EQ(machine.sampler.stopped_because(0), "precision");
  ASSERT_TRUE(machine.run());
  EXPECT_EQ(machine.sampler.stopped_because(1), "total-time");
  EXPECT_LE(machine.sampler.spent_seconds(), 58.5);
  EXPECT_GT(machine.sampler.spent_seconds(), 50);
}

TEST(Sampler, TimeLeftNeverPassesTheLimits) {
  SamplerOptions options;
  options.precision = 1e-9;
  options.total_seconds = 15;
  Machine machine(options, {{1.0, 1.0}, {1.0, 1.0}}, [](auto, int i) { return noisy(i, 1, 0.3); });
  do {
    EXPECT_LE(machine.sampler.seconds_left(),
              std::max(0.0, 15 - machine.sampler.spent_seconds()) + 1e-9);
  } while (!machine.run(1));
}

TEST(Sampler, NoCasesIsAnEndAtOnce) { EXPECT_FALSE(Sampler({}, {}, {}).next().has_value()); }

}  // namespace
}  // namespace parbench
