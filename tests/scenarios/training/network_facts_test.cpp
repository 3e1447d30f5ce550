// What is counted of a network's layers.
#include "scenarios/training/network_facts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scenarios/models/layers/composition.h"
#include "scenarios/models/layers/convolution.h"

namespace parbench {
namespace {

/// A network of a convolution to 8×6×6 and a layer that multiplies this with the sum of a
/// parameter.
Network with_composition(const Shape& parameter, bool has_root, bool has_bias = true) {
  Network net;
  net.name = "composed";
  net.input = {3, 8, 8};
  net.unit("all");
  const int first =
      net.add("conv", Convolution({.out_channels = 8, .window = {.kernel = 3}, .bias = has_bias}),
              {network_input});
  general::Graph graph;
  const int input = graph.input(extents_of({8, 6, 6}));
  int output = graph.apply(ElementOp::product, input, graph.sum(graph.parameter(parameter), {}));
  if (has_root) output = graph.apply(ElementOp::square_root, output);
  const ParameterSpec spec{.name = "w", .layer = 0, .role = "w", .shape = parameter};
  net.add("scaled", Composition("scaled", std::move(graph), output, {spec}), {first});
  return net;
}

/// Its shape alone shows a convolution among general operations.
TEST(ConvolutionsWithoutNormalisation, CountThoseOfComposedLayers) {
  EXPECT_EQ(convolutions_without_normalisation(with_composition({8, 8, 3, 3}, false)), 2U);
  EXPECT_EQ(convolutions_without_normalisation(with_composition({8, 8}, false)), 1U);
  EXPECT_EQ(convolutions_without_normalisation(with_composition({1, 8, 1, 1}, false)), 1U)
      << "a scale of channels";
  EXPECT_EQ(convolutions_without_normalisation(with_composition({8, 8, 3, 3}, true)), 0U)
      << "a square root may be that of a variance";
  EXPECT_EQ(convolutions_without_normalisation(with_composition({8, 8, 3, 3}, false, false)), 0U)
      << "no bias, so that nothing was folded into it";
}

}  // namespace
}  // namespace parbench
