// What units, cuts and shared parameters of models cost.
#include "scenarios/training/unit_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/machine/machine.h"
#include "scenarios/models/models.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::Le;
using testing::SizeIs;

Context cpu_context(bool measures) {
  return {Machine().open("cpu:0"), Context::Options{.measures = measures}};
}

Network small_gpt(bool tied_head) {
  return gpt({.layers = 1,
              .hidden = 8,
              .heads = 2,
              .sequence = 4,
              .vocabulary = 9,
              .tied_head = tied_head});
}

Context context_without_results() {
  Context context = test::fake_context(1);
  test::fake(context, 0).computes_nothing = true;
  return context;
}

TEST(UnitSeconds, EveryUnitIsMeasuredOnceARun) {
  Context context = context_without_results();
  double now = 0;
  test::fake(context, 0).on_elapsed = [&] { return ++now; };
  const Network network = perceptron(3, 8);
  const UnitRun run{.samples = 4};
  const std::vector<double> seconds = unit_seconds(context, 0, network, run).measured;
  EXPECT_THAT(seconds, AllOf(SizeIs(3), Each(Gt(0.0))));
  EXPECT_EQ(unit_seconds(context, 0, network, run).measured, seconds);
  for (const UnitRun& other : {UnitRun{.samples = 5}, UnitRun{.samples = 4, .accumulate = true}}) {
    EXPECT_NE(unit_seconds(context, 0, network, other).measured, seconds);
  }
  EXPECT_THAT(unit_seconds(context, 0, perceptron(2, 8), run).measured, SizeIs(2))
      << "a model of other sizes";
}

TEST(UnitSeconds, AreThoseOfTheFastestPass) {
  const UnitRun run{.samples = 4};
  Context context = context_without_results();
  test::fake(context, 0).on_elapsed = [] { return 0.5; };
  const UnitSeconds steady = unit_seconds(context, 0, perceptron(2, 8), run);
  EXPECT_THAT(steady.measured, ElementsAre(0.5, 0.5));
  EXPECT_EQ(steady.uncertainty, 0);
  double now = 0;
  test::fake(context, 0).on_elapsed = [&] { return 0.5 + ++now; };
  const UnitSeconds slower = unit_seconds(context, 0, perceptron(3, 8), run);
  const double between_passes = now / 3;
  EXPECT_THAT(slower.measured, Each(Le(0.5 + between_passes))) << "later passes are slower";
  const double sum = std::reduce(slower.measured.begin(), slower.measured.end());
  EXPECT_DOUBLE_EQ(slower.uncertainty, 3 * between_passes / sum);
}

TEST(UnitSeconds, OfTokensAndOfRecurrentLayersAreMeasured) {
  Context context = cpu_context(true);
  EXPECT_THAT(unit_seconds(context, 0, small_gpt(false), {.samples = 2}).measured,
              AllOf(SizeIs(3), Each(Gt(0.0))));
  const Network recurrent =
      rnn_lm({.vocabulary = 9, .embedding = 8, .hidden = 8, .layers = 2, .sequence = 4});
  EXPECT_THAT(unit_seconds(context, 0, recurrent, {.samples = 2}).measured,
              AllOf(SizeIs(4), Each(Gt(0.0))));
}

TEST(UnitSeconds, AreEstimatedWhereNothingMayBeMeasured) {
  const Network network = toy_model();
  Context first = cpu_context(false);
  Context second = cpu_context(false);
  const UnitRun run{.samples = 4};
  const UnitSeconds seconds = unit_seconds(first, 0, network, run);
  EXPECT_THAT(seconds.estimated, Each(Gt(0.0)));
  EXPECT_EQ(seconds.measured, seconds.estimated);
  EXPECT_EQ(unit_seconds(second, 0, network, run).measured, seconds.estimated)
      << "a clock has been read";
}

TEST(UnitSeconds, RecomputingIsMoreWork) {
  const Network network = small_gpt(false);
  Context context = cpu_context(false);
  const double once = unit_seconds(context, 0, network, {.samples = 4}).estimated.at(1);
  EXPECT_GT(unit_seconds(context, 0, network, {.samples = 4, .recompute = true}).estimated.at(1),
            once);
}

TEST(UnitSeconds, AddingToGradientsIsMoreWork) {
  const Network network = toy_model();
  Context context = cpu_context(false);
  const double once = unit_seconds(context, 0, network, {.samples = 4}).estimated.front();
  EXPECT_GT(unit_seconds(context, 0, network, {.samples = 4, .accumulate = true}).estimated.front(),
            once);
}

TEST(CutSeconds, FollowTheBytesThatCross) {
  const Network network = resnet(18, 64);
  Context context = cpu_context(false);
  const std::vector<double>& seconds =
      cut_seconds(context, network, {.samples = 2}, CostBasis::measured);
  ASSERT_EQ(seconds.size(), network.units.size());
  EXPECT_EQ(seconds.front(), 0);
  const double layer1 = 2.0 * 64 * 16 * 16 * sizeof(float);
  EXPECT_DOUBLE_EQ(seconds[1], layer1 / 1e10) << "the output of the stem";
  EXPECT_LT(seconds.back(), seconds[1]);
  EXPECT_EQ(cut_seconds(context, network, {.samples = 2}, CostBasis::estimated), seconds);
}

TEST(CutSeconds, AreMeasuredBetweenTwoDevices) {
  if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two cores";
  Context context{Machine().open("cpu:0,cpu:1"), Context::Options{}};
  const Network network = toy_model();
  const std::vector<double>& seconds =
      cut_seconds(context, network, {.samples = 4}, CostBasis::measured);
  ASSERT_EQ(seconds.size(), 2U);
  EXPECT_GT(seconds[1], 0);
  EXPECT_EQ(&cut_seconds(context, network, {.samples = 4}, CostBasis::measured), &seconds);
}

TEST(SharedParameters, OfATiedHeadAreExchangedOnceAStep) {
  Context context = cpu_context(false);
  EXPECT_TRUE(
      shared_parameters(context, small_gpt(false), {.samples = 2}, 8, CostBasis::measured).empty());
  const std::vector<SharedParameters> shared =
      shared_parameters(context, small_gpt(true), {.samples = 2}, 8, CostBasis::measured);
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared[0].owner, 0) << "the unit of the embedding";
  EXPECT_EQ(shared[0].other, 2) << "the unit of the head";
  const double table = 9.0 * 8 * sizeof(float);
  EXPECT_DOUBLE_EQ(shared[0].seconds, 4 * table / 1e10 / 4) << "a fourth of a step";
}

TEST(SharedParameters, AreMeasuredBetweenTwoDevices) {
  if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two cores";
  Context context{Machine().open("cpu:0,cpu:1"), Context::Options{}};
  const auto seconds = [&](std::int64_t batch) {
    return shared_parameters(context, small_gpt(true), {.samples = 2}, batch, CostBasis::measured)
        .at(0)
        .seconds;
  };
  EXPECT_GT(seconds(2), 0);
  EXPECT_DOUBLE_EQ(seconds(2), 2 * seconds(4)) << "measured once a run";
}

}  // namespace
}  // namespace parbench
