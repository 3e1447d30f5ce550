// How models are partitioned: by name, and by what their units cost.
#include "scenarios/training/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;

std::string refusal(const Network& network, const std::string& text, int stages) {
  try {
    static_cast<void>(named_partition(network, text, stages));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(NamedPartition, UnitsAreFoundByName) {
  const Network network = resnet(50, 64);
  EXPECT_THAT(named_partition(network, "published", 2), ElementsAre(8));
  EXPECT_THAT(named_partition(network, "layer1.0+layer4.2+head", 4), ElementsAre(1, 16, 17));
}

TEST(NamedPartition, RefusalsNameTheWordAndTheUnits) {
  const Network network = resnet(50, 64);
  EXPECT_THAT(refusal(network, "layer5.0", 2), HasSubstr("'layer5.0' starts no later stage"));
  EXPECT_THAT(refusal(network, "layer5.0", 2), HasSubstr("layer1.0, layer1.1"));
  EXPECT_THAT(refusal(network, "", 2), HasSubstr("'' starts no later stage"));
  EXPECT_THAT(refusal(network, "layer1.0+", 3), HasSubstr("'' starts no later stage"));
  EXPECT_THAT(refusal(network, "stem", 2), HasSubstr("'stem' starts no later stage"))
      << "no stage is left before the first unit";
}

TEST(NamedPartition, AStageForEveryDeviceInOrder) {
  const Network network = resnet(50, 64);
  EXPECT_THAT(refusal(network, "layer1.0", 3), HasSubstr("makes 2 stages, but there are 3"));
  EXPECT_THAT(refusal(network, "layer2.0+layer1.0", 3), HasSubstr("in ascending order"));
  EXPECT_THAT(refusal(network, "layer2.0+layer2.0", 3), HasSubstr("different ones"));
  EXPECT_THAT(refusal(network, "published", 3), HasSubstr("no published partition of resnet50"));
  EXPECT_THAT(refusal(resnet(18, 64), "published", 2),
              HasSubstr("use balanced, or name 1 unit of"));
}

Context cpu_context(bool measures) {
  return {Machine().open("cpu:0"), Context::Options{.measures = measures}};
}

TEST(UnitSeconds, EveryUnitIsMeasuredOnceARun) {
  Context context = cpu_context(true);
  const Network network = toy_model();
  const UnitRun run{.samples = 4};
  const std::vector<double>& seconds = measured_unit_seconds(context, 0, network, run);
  EXPECT_EQ(seconds.size(), network.units.size());
  EXPECT_THAT(seconds, Each(Gt(0.0)));
  EXPECT_EQ(&measured_unit_seconds(context, 0, network, run), &seconds);
  EXPECT_NE(&measured_unit_seconds(context, 0, network, {.samples = 5}), &seconds);
  EXPECT_NE(&measured_unit_seconds(context, 0, network, {.samples = 4, .accumulate = true}),
            &seconds);
}

TEST(UnitSeconds, ModelsOfOtherSizesAreMeasuredApart) {
  Context context = cpu_context(true);
  const UnitRun run{.samples = 4};
  EXPECT_EQ(measured_unit_seconds(context, 0, perceptron(2, 8), run).size(), 2U);
  EXPECT_EQ(measured_unit_seconds(context, 0, perceptron(3, 8), run).size(), 3U);
}

TEST(UnitSeconds, OfTokensAreMeasuredOnTokens) {
  Context context = cpu_context(true);
  const Network network =
      gpt({.layers = 1, .hidden = 8, .heads = 2, .sequence = 4, .vocabulary = 9});
  EXPECT_THAT(measured_unit_seconds(context, 0, network, {.samples = 2}),
              AllOf(SizeIs(3), Each(Gt(0.0))));
}

TEST(UnitSeconds, OfRecurrentLayersAreMeasured) {
  Context context = cpu_context(true);
  const Network network =
      rnn_lm({.vocabulary = 9, .embedding = 8, .hidden = 8, .layers = 2, .sequence = 4});
  EXPECT_THAT(measured_unit_seconds(context, 0, network, {.samples = 2}),
              AllOf(SizeIs(4), Each(Gt(0.0))));
}

TEST(UnitSeconds, AreEstimatedWhereNothingMayBeMeasured) {
  const Network network = toy_model();
  Context first = cpu_context(false);
  Context second = cpu_context(false);
  const UnitRun run{.samples = 4};
  const std::vector<double> seconds = measured_unit_seconds(first, 0, network, run);
  EXPECT_THAT(seconds, Each(Gt(0.0)));
  EXPECT_EQ(measured_unit_seconds(second, 0, network, run), seconds) << "a clock has been read";
}

TEST(UnitSeconds, RecomputingIsMoreWork) {
  const Network network =
      gpt({.layers = 1, .hidden = 8, .heads = 2, .sequence = 4, .vocabulary = 9});
  Context context = cpu_context(false);
  const double once = measured_unit_seconds(context, 0, network, {.samples = 4}).at(1);
  EXPECT_GT(measured_unit_seconds(context, 0, network, {.samples = 4, .recompute = true}).at(1),
            once);
}

TEST(CutSeconds, FollowTheBytesThatCross) {
  const Network network = resnet(18, 64);
  Context context = cpu_context(false);
  const std::vector<double>& seconds = measured_cut_seconds(context, network, {.samples = 2});
  ASSERT_EQ(seconds.size(), network.units.size());
  EXPECT_EQ(seconds.front(), 0);
  const double layer1 = 2.0 * 64 * 16 * 16 * sizeof(float);
  EXPECT_DOUBLE_EQ(seconds[1], layer1 / 1e10) << "the output of the stem";
  EXPECT_LT(seconds.back(), seconds[1]);
}

TEST(CutSeconds, AreMeasuredBetweenTwoDevices) {
  if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two cores";
  Context context{Machine().open("cpu:0,cpu:1"), Context::Options{}};
  const Network network = toy_model();
  const std::vector<double>& seconds = measured_cut_seconds(context, network, {.samples = 4});
  ASSERT_EQ(seconds.size(), 2U);
  EXPECT_GT(seconds[1], 0);
  EXPECT_EQ(&measured_cut_seconds(context, network, {.samples = 4}), &seconds);
}

Network small_gpt(bool tied_head) {
  return gpt({.layers = 1,
              .hidden = 8,
              .heads = 2,
              .sequence = 4,
              .vocabulary = 9,
              .tied_head = tied_head});
}

TEST(SharedParameters, OfATiedHeadAreExchangedOnceAStep) {
  Context context = cpu_context(false);
  EXPECT_TRUE(shared_parameters(context, small_gpt(false), {.samples = 2}, 8).empty());
  const std::vector<SharedParameters> shared =
      shared_parameters(context, small_gpt(true), {.samples = 2}, 8);
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
    return shared_parameters(context, small_gpt(true), {.samples = 2}, batch).at(0).seconds;
  };
  EXPECT_GT(seconds(2), 0);
  EXPECT_DOUBLE_EQ(seconds(2), 2 * seconds(4)) << "measured once a run";
}

/// Where a model of blocks of equal cost is divided for three devices in a step of `batch` samples,
/// by estimates.
std::vector<int> three_stages(bool tied_head, std::int64_t batch) {
  Context context = cpu_context(false);
  const Network network = gpt({.layers = 6,
                               .hidden = 8,
                               .heads = 2,
                               .sequence = 4,
                               .vocabulary = 512,
                               .tied_head = tied_head});
  return chosen_partition(context, network, "balanced", {0, 0, 0}, {.samples = 2}, batch);
}

TEST(ChosenPartition, CountsTheExchangeOfATiedHead) {
  const std::vector<int> untied = three_stages(false, 2);
  EXPECT_EQ(three_stages(true, 1 << 20), untied) << "a vanishing share of each micro-batch";
  const std::vector<int> tied = three_stages(true, 2);
  EXPECT_LT(tied[0], untied[0]) << "the first stage has the time of the exchange too";
  EXPECT_GE(tied[1], untied[1]) << "and so has the last one";
}

TEST(UnitSeconds, AddingToGradientsIsMoreWork) {
  const Network network = toy_model();
  Context context = cpu_context(false);
  const double once = measured_unit_seconds(context, 0, network, {.samples = 4}).front();
  EXPECT_GT(measured_unit_seconds(context, 0, network, {.samples = 4, .accumulate = true}).front(),
            once);
}

}  // namespace
}  // namespace parbench
