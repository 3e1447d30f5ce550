// Layers, shapes and parameters of networks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

TEST(ResNet, HasTorchvisionsParameters) {
  const auto count = [](int depth) {
    std::int64_t sum = 0;
    for (const ParameterSpec& one : resnet(depth, 224).parameters())
      sum += element_count(one.shape);
    return sum;
  };
  EXPECT_EQ(count(18), 11'689'512);
  EXPECT_EQ(count(34), 21'797'672);
  EXPECT_EQ(count(50), 25'557'032);
  EXPECT_EQ(count(101), 44'549'160);
  EXPECT_EQ(count(152), 60'192'808);
  EXPECT_EQ(resnet(50, 224).parameters().size(), 161U);
  EXPECT_EQ(resnet(50, 224).units.size(), 18U);
  EXPECT_THROW((void)resnet(49, 224), std::invalid_argument);
}

TEST(GoogLeNet, HasTorchvisionsParameters) {
  const Network network = googlenet(224);
  std::int64_t sum = 0;
  for (const ParameterSpec& one : network.parameters()) sum += element_count(one.shape);
  EXPECT_EQ(sum, 6'624'904) << "without auxiliary classifiers";
  EXPECT_EQ(network.units.size(), 11U);
  EXPECT_EQ(network.layer(static_cast<int>(network.layers.size()) - 3).output, (Shape{1024, 7, 7}));
}

TEST(Unet, HasTheLevelsOfThePaper) {
  const Network network = unet({});
  std::int64_t sum = 0;
  for (const ParameterSpec& one : network.parameters()) sum += element_count(one.shape);
  EXPECT_EQ(sum, 31'036'738) << "31,037,698 with biases in up-convolutions";
  EXPECT_EQ(network.units,
            (std::vector<std::string>{"down.0", "down.1", "down.2", "down.3", "bottom", "up.3",
                                      "up.2", "up.1", "up.0", "head"}));
  EXPECT_EQ(network.layers.back().output, (Shape{2, 128, 128}));
}

TEST(Unet, HandsTheLevelsOfItsEncoderToThoseOfItsDecoder) {
  const Network network = unet({.image = 16, .layers = 2, .hidden = 4});
  std::vector<std::size_t> crossing;  // into each unit but the first
  for (int index = 1; index < static_cast<int>(network.layers.size()); ++index) {
    if (network.layer(index).unit == network.layer(index - 1).unit) continue;
    crossing.push_back(network.crossing(index).size());
  }
  EXPECT_EQ(crossing, (std::vector<std::size_t>{1, 2, 3, 2, 1}));
}

TEST(Unet, WantsImagesThatCanBeHalved) {
  EXPECT_THAT([] { (void)unet({.image = 120}); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(
                  "--image 120 cannot be halved 4 times; use a multiple of 16")));
  EXPECT_THROW((void)unet({.layers = 0}), std::invalid_argument);
  EXPECT_THROW((void)unet({.layers = 100}), std::invalid_argument);
}

TEST(Gpt, HasNamedSizes) {
  const Model small = model_named("gpt2-124m");
  const Network network = small.make(small.sizes);
  std::int64_t parameters = 0;
  for (const ParameterSpec& spec : network.parameters()) {
    if (!spec.name.starts_with("lm_head")) parameters += element_count(spec.shape);
  }
  EXPECT_EQ(parameters, 124439808) << "GPT-2's, whose head has the embedding's weights";
  EXPECT_EQ(network.units.size(), 14U);
  EXPECT_EQ(model_named("gpt-tiny").sizes.at("layers"), 2);
}

TEST(Gpt, HasTheEmbeddingsTableInATiedHead) {
  const Model small = with_tied_head(model_named("gpt2-124m"));
  const Network network = small.make(small.sizes);
  std::int64_t parameters = 0;
  for (const ParameterSpec& spec : network.parameters()) parameters += element_count(spec.shape);
  EXPECT_EQ(parameters, 124439808) << "GPT-2's";
  const int head = static_cast<int>(network.layers.size()) - 1;
  EXPECT_EQ(network.layer(network.owner_of(head)).name, "wte");
  EXPECT_THAT([] { (void)with_tied_head(model_named("rnn-lm")); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr(
                  "--head: the head of model rnn-lm cannot share an embedding's table")));
}

TEST(Network, TiesOnlyLayersWithTheSameParameters) {
  Network net;
  net.input = {8};
  net.unit("all");
  const int first = net.add("first", Linear(8), {network_input});
  const int narrow = net.add("narrow", Linear(4), {first});
  const int same = net.add("same", Linear(8), {first});
  EXPECT_THROW(net.tie(narrow, first), std::logic_error);
  EXPECT_THROW(net.tie(first, same), std::logic_error);
  net.tie(same, first);
  EXPECT_EQ(net.owner_of(same), first);
  EXPECT_EQ(net.parameters().size(), 4U) << "those of first and narrow";
}

TEST(Units, OneTensorCrossesBetweenThemInModelsThatShip) {
  for (const Model& model : models()) {
    if (model.name.starts_with("unet")) continue;  // whose levels skip units
    const Network network = model.make(model.sizes);
    for (int index = 1; index < static_cast<int>(network.layers.size()); ++index) {
      if (network.layer(index).unit == network.layer(index - 1).unit) continue;
      EXPECT_EQ(network.crossing(index), std::vector{index - 1}) << model.name << " " << index;
    }
  }
}

TEST(Perceptron, HasAUnitForEachLinearLayer) {
  const Network network = perceptron(3, 8);
  EXPECT_EQ(network.units.size(), 3U);
  EXPECT_EQ(network.layers.size(), 5U) << "no ReLU at the end";
  EXPECT_EQ(network.parameters().size(), 6U);
}

TEST(RnnLm, IsTheMediumOneByDefault) {
  const Network network = rnn_lm({});
  std::int64_t sum = 0;
  for (const ParameterSpec& one : network.parameters()) sum += element_count(one.shape);
  EXPECT_EQ(sum, 2 * 10'000 * 650 + 10'000 + 2 * (2 * 2600 * 650 + 2600));
  EXPECT_EQ(network.units, (std::vector<std::string>{"embedding", "lstm.0", "lstm.1", "head"}));
  EXPECT_EQ(network.layers.back().output, (Shape{35, 10'000}));
}

TEST(RnnLm, HasSamplesOfOneBucket) {
  const Network network = rnn_lm({.hidden = 8, .sequence = 35});
  std::set<std::int64_t> lengths;
  std::int64_t sum = 0;
  for (std::int64_t sample = 0; sample < 200; ++sample) {
    lengths.insert(network.length_of(sample));
    sum += network.length_of(sample);
  }
  EXPECT_EQ(*lengths.begin(), 18) << "shorter ones belong to the bucket before";
  EXPECT_EQ(*lengths.rbegin(), 35);
  EXPECT_EQ(lengths.size(), 18U);
  EXPECT_EQ(network.target_positions(200), sum);
}

TEST(Network, HasNoPaddingUnlessSamplesAreShorter) {
  const Network network =
      gpt({.layers = 1, .hidden = 8, .heads = 2, .sequence = 4, .vocabulary = 9});
  EXPECT_EQ(network.length_of(3), 4);
  EXPECT_EQ(network.target_positions(5), 20);
  EXPECT_EQ(toy_model().target_positions(5), 5);
}

// The initial values of a parameter depend on its offset.
TEST(ResNet50, HasTorchvisionsOrderOfParameters) {
  std::vector<std::string> names;
  for (const ParameterSpec& parameter : resnet(50, 224).parameters()) {
    if (parameter.name.starts_with("layer1.0.")) names.push_back(parameter.name.substr(9));
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "conv1.weight", "bn1.weight", "bn1.bias", "conv2.weight", "bn2.weight",
                       "bn2.bias", "conv3.weight", "bn3.weight", "bn3.bias", "downsample.0.weight",
                       "downsample.1.weight", "downsample.1.bias"}));
}

TEST(Network, AnAddendHasTheShapeOfItsLayerAndAReluBehindIt) {
  Network net;
  net.input = {8, 6, 6};
  net.unit("all");
  const int wide = net.add("wide", Convolution({.out_channels = 16}), {network_input});
  const int narrow = net.add("narrow", Convolution({.out_channels = 8}), {network_input});
  EXPECT_NO_THROW(net.add("norm", BatchNorm(true), {narrow, network_input}));
  EXPECT_THROW(net.add("norm", BatchNorm(true), {narrow, wide}), std::invalid_argument);
  EXPECT_THROW(net.add("norm", BatchNorm(false), {narrow, network_input}), std::invalid_argument);
}

/// What a network says of something that it does not have.
template <class Error, class Function>
std::string refusal(const Function& ask) {
  try {
    ask();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Network, NamesTheLayerWhoseInputIsMissing) {
  Network net;
  net.input = {8};
  net.unit("all");
  net.add("fc", Linear(4), {network_input});
  EXPECT_EQ(refusal<std::out_of_range>([&] { (void)net.input_of(net.layer(0), 1); }),
            "layer 'fc' has no input 1: it reads 1");
  EXPECT_EQ(refusal<std::invalid_argument>([&] { net.add("late", Linear(4), {1}); }),
            "late: reads layer 1, but only 1 layers precede it");
}

TEST(Network, NamesTheLayerThatCannotTakeItsInput) {
  Network net;
  net.input = {8, 6, 6};
  net.unit("all");
  try {
    net.add("large", Convolution({.out_channels = 8, .window = {.kernel = 7}}), {network_input});
    FAIL() << "a window of 7 fits no image of 6";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("large: an extent of 6"));
  }
}

TEST(ResNet50, HasTorchvisionsShapes) {
  const Network network = resnet(50, 224);
  std::map<std::string, Shape> shapes;
  for (const ParameterSpec& parameter : network.parameters()) {
    EXPECT_TRUE(shapes.emplace(parameter.name, parameter.shape).second) << parameter.name;
  }
  const std::map<std::string, Shape> expected = {{"conv1.weight", {64, 3, 7, 7}},
                                                 {"bn1.bias", {64}},
                                                 {"layer1.0.conv1.weight", {64, 64, 1, 1}},
                                                 {"layer1.0.downsample.0.weight", {256, 64, 1, 1}},
                                                 {"layer1.0.downsample.1.weight", {256}},
                                                 {"layer1.2.conv1.weight", {64, 256, 1, 1}},
                                                 {"layer2.0.conv2.weight", {128, 128, 3, 3}},
                                                 {"layer2.0.downsample.0.weight", {512, 256, 1, 1}},
                                                 {"layer3.5.conv3.weight", {1024, 256, 1, 1}},
                                                 {"layer4.0.conv1.weight", {512, 1024, 1, 1}},
                                                 {"layer4.2.bn3.weight", {2048}},
                                                 {"fc.weight", {1000, 2048}},
                                                 {"fc.bias", {1000}}};
  for (const auto& [name, shape] : expected) EXPECT_EQ(shapes[name], shape) << name;

  std::map<std::string, Shape> outputs;  // of the last layer of each unit
  for (const Layer& layer : network.layers) {
    outputs[network.units[static_cast<std::size_t>(layer.unit)]] = layer.output;
  }
  EXPECT_EQ(outputs["stem"], (Shape{64, 56, 56}));
  EXPECT_EQ(outputs["layer1.2"], (Shape{256, 56, 56}));
  EXPECT_EQ(outputs["layer2.3"], (Shape{512, 28, 28}));
  EXPECT_EQ(outputs["layer3.5"], (Shape{1024, 14, 14}));
  EXPECT_EQ(outputs["layer4.2"], (Shape{2048, 7, 7}));
  EXPECT_EQ(outputs["head"], (Shape{1000}));
}

}  // namespace
}  // namespace parbench
