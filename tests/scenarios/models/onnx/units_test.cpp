// Units of networks from ONNX files: where a pipeline may cut them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/models/models.h"
#include "tests/support/onnx_file.h"
#include "tests/support/onnx_networks.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

struct OnnxUnits : testing::Test {
  [[nodiscard]] Network network(const std::string& input, const std::string& nodes,
                                int opset) const {
    const std::string path = (folder_ / "model.onnx").string();
    write_onnx(path, input, nodes, opset);
    const Model model = model_named(path);
    return model.make(model.sizes);
  }

  TemporaryFolder folder_;
};

/// How many tensors cross in front of each unit but the first.
std::vector<std::size_t> crossing_tensors(const Network& network) {
  std::vector<std::size_t> counts;
  for (int unit = 1; unit < static_cast<int>(network.units.size()); ++unit) {
    const auto first = std::ranges::find(network.layers, unit, &Layer::unit);
    counts.push_back(network.crossing(static_cast<int>(first - network.layers.begin())).size());
  }
  return counts;
}

TEST_F(OnnxUnits, TransformersWithNormalisationFirstAreCutBehindEachSum) {
  const Network found = network(onnx_transformer_input, onnx_transformer(3, NormPlace::first), 17);
  EXPECT_THAT(found.units, ElementsAre("b0.norm.a", "b0.norm.b", "b1.norm.a", "b1.norm.b",
                                       "b2.norm.a", "b2.norm.b", "head"));
  EXPECT_THAT(crossing_tensors(found), Each(1U));
  const std::vector<int> layers_of_units{5, 5, 5, 5, 5, 5, 1};
  for (std::size_t unit = 0; unit < layers_of_units.size(); ++unit) {
    EXPECT_EQ(std::ranges::count(found.layers, static_cast<int>(unit), &Layer::unit),
              layers_of_units[unit]);
  }
}

/// Two tensors cross between the layers of a long residual block. The unit that begins with the
/// block's normalisation keeps the first product.
TEST_F(OnnxUnits, LongBlocksWithNormalisationFirstAreCutInFrontOfAllProductsButTheFirst) {
  constexpr int products = 17;
  std::string nodes =
      onnx_convolution("stem", "x", "8, 3, 3, 3") + onnx_normalisation("bn", "stem", "8");
  std::string last = "bn";
  for (int i = 0; i < products; ++i) {
    const std::string name = fmt::format("c{}", i);
    nodes += onnx_convolution(name, last, "8, 8, 3, 3");
    last = name;
  }
  nodes += fmt::format("sum = Add (stem, {}) ", last) + onnx_classifier("sum");
  const Network found = network("float[N, 3, 16, 16] x", nodes, 13);
  std::vector<std::string> units{"stem", "bn"};
  for (int i = 1; i < products; ++i) units.push_back(fmt::format("c{}", i));
  units.emplace_back("fc");
  EXPECT_THAT(found.units, testing::ElementsAreArray(units));
}

TEST_F(OnnxUnits, TransformersWithNormalisationLastAreCutInFrontOfProducts) {
  const Network found = network(onnx_transformer_input, onnx_transformer(2, NormPlace::last), 17);
  EXPECT_THAT(found.units, ElementsAre("b0.q.qkv", "b0.fc", "b1.q.qkv", "b1.fc", "head"));
  EXPECT_THAT(crossing_tensors(found), Each(1U));
}

TEST_F(OnnxUnits, ResidualNetworksWithPreActivationAreCutBehindEachSum) {
  const Network found = network("float[N, 3, 16, 16] x", onnx_pre_activation_resnet(3), 13);
  EXPECT_THAT(found.units, ElementsAre("stem", "b0.bn.a", "b1.bn.a", "b2.bn.a", "fc"));
  EXPECT_THAT(crossing_tensors(found), Each(1U));
}

/// Each layer reads the concatenation of all before it.
TEST_F(OnnxUnits, DenseNetworksAreCutBehindEachConcatenation) {
  std::string nodes = onnx_convolution("stem", "x", "2, 3, 3, 3");
  std::string stream = "stem";
  for (int i = 0; i < 3; ++i) {
    const std::string layer = fmt::format("d{}", i);
    nodes +=
        onnx_normalisation(layer + ".bn", stream, fmt::format("{}", 2 + 2 * i)) +
        onnx_convolution(layer + ".conv", layer + ".bn", fmt::format("2, {}, 3, 3", 2 + 2 * i)) +
        fmt::format("{0}.cat = Concat <axis = 1> ({1}, {0}.conv) ", layer, stream);
    stream = layer + ".cat";
  }
  const Network found = network("float[N, 3, 16, 16] x", nodes + onnx_classifier(stream), 13);
  EXPECT_THAT(found.units, ElementsAre("stem", "d0.bn", "d1.bn", "d2.bn", "fc"));
  EXPECT_THAT(crossing_tensors(found), Each(1U));
}

}  // namespace
}  // namespace parbench::test
