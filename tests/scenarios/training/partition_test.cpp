// How models are partitioned: by name, and by what their units cost.
#include "scenarios/training/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
  EXPECT_THAT(refusal(network, "layer5.0", 2), HasSubstr("'layer5.0' is not a unit of"));
  EXPECT_THAT(refusal(network, "layer5.0", 2), HasSubstr("layer1.0, layer1.1"));
  EXPECT_THAT(refusal(network, "", 2), HasSubstr("'' is not a unit of"));
  EXPECT_THAT(refusal(network, "layer1.0+", 3), HasSubstr("'' is not a unit of"));
  EXPECT_THAT(refusal(network, "stem", 2), HasSubstr("'stem' is not a unit of"))
      << "no stage is left before the first unit";
}

TEST(NamedPartition, AStageForEveryDeviceInOrder) {
  const Network network = resnet(50, 64);
  EXPECT_THAT(refusal(network, "layer1.0", 3), HasSubstr("makes 2 stages, but there are 3"));
  EXPECT_THAT(refusal(network, "layer2.0+layer1.0", 3), HasSubstr("in the model's order"));
  EXPECT_THAT(refusal(network, "layer2.0+layer2.0", 3), HasSubstr("different"));
  EXPECT_THAT(refusal(network, "published", 3), HasSubstr("no published partition of resnet50"));
  EXPECT_THAT(refusal(resnet(18, 64), "published", 2),
              HasSubstr("use balanced, or name 1 unit of"));
}

/// Where a model of blocks of equal cost is divided for three devices in a step of `batch` samples,
/// by estimates.
std::vector<int> three_stages(bool tied_head, std::int64_t batch) {
  Context context{Machine().open("cpu:0"), Context::Options{.measures = false}};
  const Network network = gpt({.layers = 6,
                               .hidden = 8,
                               .heads = 2,
                               .sequence = 4,
                               .vocabulary = 512,
                               .tied_head = tied_head});
  CaseSpec spec;
  spec.parameters.set("partition", std::string("balanced"));
  spec.parameters.set("recompute", std::string("none"));
  return chosen_partition(context, network, spec, {0, 0, 0},
                          std::vector<std::int64_t>(static_cast<std::size_t>(batch / 2), 2));
}

TEST(ChosenPartition, CountsTheExchangeOfATiedHead) {
  EXPECT_EQ(three_stages(true, 1 << 20), three_stages(false, 1 << 20))
      << "a vanishing share of each micro-batch";
  const std::vector<int> untied = three_stages(false, 2);
  const std::vector<int> tied = three_stages(true, 2);
  EXPECT_LT(tied[0], untied[0]) << "the first stage has the time of the exchange too";
  EXPECT_GE(tied[1], untied[1]) << "and so has the last one";
}

}  // namespace
}  // namespace parbench
