// What inference leaves out of a network, and what it must not.
#include "scenarios/inference/inference_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

using ::testing::ElementsAre;

class InferenceNetwork : public testing::Test {
 protected:
  InferenceNetwork() {
    net_.input = {16, 8, 8};
    net_.unit("all");
  }

  int convolution(const std::string& name, int input) {
    return net_.add(name, Convolution({.out_channels = 16}), {input});
  }
  int activation(const std::string& name, int input, ActivationKind kind = ActivationKind::relu) {
    return net_.add(name, Activation(kind), {input});
  }

  /// "c+" is a convolution with a ReLU.
  [[nodiscard]] std::vector<std::string> layers() const {
    std::vector<std::string> names;
    for (const Layer& layer : for_inference(net_).layers) {
      const auto* convolution = as<Convolution>(layer);
      const bool clamps = convolution != nullptr && convolution->options().relu;
      names.push_back(layer.name + (clamps ? "+" : ""));
    }
    return names;
  }

  Network net_;
};

TEST_F(InferenceNetwork, ReluBehindAConvolutionIsAPartOfIt) {
  const int a = activation("relu a", convolution("a", network_input));
  const int b = activation("relu b", convolution("b", a));
  net_.add("sum", Addition(), {a, b});
  const Network network = for_inference(net_);
  EXPECT_THAT(layers(), ElementsAre("a+", "b+", "sum"));
  EXPECT_THAT(network.layers[1].inputs, ElementsAre(0));
  EXPECT_THAT(network.layers[2].inputs, ElementsAre(0, 1));
  EXPECT_EQ(network.parameters().size(), net_.parameters().size());
}

TEST_F(InferenceNetwork, ConvolutionThatOthersReadTooKeepsItsOutput) {
  const int a = convolution("a", network_input);
  const int relu = activation("relu", a);
  net_.add("sum", Addition(), {a, relu});
  EXPECT_THAT(layers(), ElementsAre("a", "relu", "sum"));
}

TEST_F(InferenceNetwork, OtherActivationsStay) {
  const int a = activation("tanh", convolution("a", network_input), ActivationKind::tanh);
  activation("relu", a);
  EXPECT_THAT(layers(), ElementsAre("a", "tanh", "relu"));
}

TEST_F(InferenceNetwork, DropoutsAreLeftOut) {
  const int a = net_.add("first", RandomDropout(0.5F, 0), {network_input});
  const int b = activation("relu", convolution("a", a));
  const int c = net_.add("dropout", RandomDropout(0.5F, 1), {b});
  net_.add("pool", GlobalAveragePool(), {c});
  EXPECT_THAT(layers(), ElementsAre("a+", "pool"));
  EXPECT_THAT(for_inference(net_).layers[0].inputs, ElementsAre(network_input));
}

TEST_F(InferenceNetwork, OutputStaysTheLastLayer) {
  const int a = convolution("a", network_input);
  const int b = convolution("b", network_input);
  net_.add("sum", Addition(), {b, b});
  activation("relu", a);
  EXPECT_THAT(layers(), ElementsAre("a", "b", "sum", "relu"));
}

TEST_F(InferenceNetwork, TiedLayersFollowTheLayerOfTheirParameters) {
  const int dropout = net_.add("dropout", RandomDropout(0.5F, 0), {network_input});
  const int a = convolution("a", dropout);
  const int b = convolution("b", a);
  net_.tie(b, a);
  EXPECT_EQ(for_inference(net_).layers[1].tied_to, 0);
}

TEST_F(InferenceNetwork, NetworkOfNothingButADropoutKeepsIt) {
  net_.add("dropout", RandomDropout(0.5F, 0), {network_input});
  EXPECT_THAT(layers(), ElementsAre("dropout"));
}

TEST_F(InferenceNetwork, ModelsThatShipKeepParametersAndOutput) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.name);
    const Network network = make_network(model, {});
    const Network changed = for_inference(network);
    EXPECT_EQ(changed.parameters().size(), network.parameters().size());
    EXPECT_EQ(changed.layers.back().output, network.layers.back().output);
  }
}

}  // namespace
}  // namespace parbench
