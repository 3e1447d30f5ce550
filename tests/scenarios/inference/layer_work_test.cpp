// Counted work of layers: FLOPs by definition, each argument read or written once.
#include "scenarios/inference/layer_work.h"

#include <gtest/gtest.h>

#include "scenarios/inference/inference_network.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

TEST(LayerWork, CountsFlopsAndTrafficOfAConvolutionAndASum) {
  Network net;
  net.input = {4, 6, 6};
  net.unit("all");
  const int a = net.add(
      "a", Convolution({.out_channels = 8, .window = {.kernel = 3, .padding = 1}, .bias = true}),
      {network_input});
  net.add("sum", Addition(), {a, a});
  const std::vector<Work> work = layer_work(net, 5);
  ASSERT_EQ(work.size(), 2U);
  constexpr double outputs = 5 * 8 * 36;
  EXPECT_EQ(work[0].flops, outputs * (2 * 4 * 9 + 1));
  EXPECT_EQ(work[0].bytes, 4 * (5 * 4 * 36 + 8 * 4 * 9 + 8 + outputs));
  EXPECT_EQ(work[1].flops, outputs);
  EXPECT_EQ(work[1].bytes, 4 * 3 * outputs);
}

TEST(LayerWork, IsKnownOfEveryLayerThatShips) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.name);
    const Network network = for_inference(make_network(model, {}));
    const std::vector<Work> work = layer_work(network, 2);
    ASSERT_EQ(work.size(), network.layers.size());
    for (std::size_t i = 0; i < work.size(); ++i) {
      EXPECT_GT(work[i].bytes, 0) << network.layers[i].name;
    }
  }
}

}  // namespace
}  // namespace parbench
