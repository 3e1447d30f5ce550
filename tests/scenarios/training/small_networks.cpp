// Networks with all kinds of layers, small enough for finite differences.
#include "tests/scenarios/training/small_networks.h"

#include <cstdint>
#include <tuple>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/models.h"
#include "tests/scenarios/training/composed_networks.h"
#include "tests/scenarios/training/skips.h"

namespace parbench::test {
namespace {

/// Everything that ResNet-50 is made of, small: a projection with stride, an identity block.
Network small_residual_network() {
  const auto convolution = [](std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
    return Convolution(
        {.out_channels = channels,
         .window = {.kernel = kernel, .stride = stride, .padding = kernel == 3 ? 1 : 0}});
  };
  Network net;
  net.name = "small";
  net.input = {3, 10, 10};
  net.unit("stem");
  int x = net.add("conv1", convolution(16, 3, 1), {network_input});
  x = net.add("bn1", BatchNorm(true), {x});
  x = net.add("maxpool", MaxPool({.kernel = 3, .stride = 2, .padding = 1}), {x});
  for (const auto& [name, channels, stride] :
       {std::tuple("projected", 32, 2), std::tuple("identity", 32, 1)}) {
    const std::string block = name;
    net.unit(block);
    const int in = x;
    x = net.add(block + ".conv1", convolution(16, 1, 1), {in});
    x = net.add(block + ".bn1", BatchNorm(true), {x});
    x = net.add(block + ".conv2", convolution(channels, 3, stride), {x});
    int shortcut = in;
    if (stride == 2) {
      shortcut = net.add(block + ".down", convolution(channels, 1, stride), {in});
      shortcut = net.add(block + ".down_bn", BatchNorm(false), {shortcut});
    }
    x = net.add(block + ".bn2", BatchNorm(true), {x, shortcut});
  }
  net.unit("head");
  x = net.add("avgpool", GlobalAveragePool(), {x});
  net.add("fc", Linear(5), {x});
  return net;
}

/// Convolutions with bias, functions of their own, images as rows.
Network small_plain_network() {
  Network net;
  net.name = "plain";
  net.input = {3, 6, 6};
  net.unit("features");
  int x = net.add("conv", Convolution({.out_channels = 16, .window = {.kernel = 3}, .bias = true}),
                  {network_input});
  x = net.add("relu", Activation(ActivationKind::relu), {x});
  x = net.add("pool", MaxPool({.kernel = 2, .stride = 2}), {x});
  net.unit("classifier");
  x = net.add("flatten", Flatten(), {x});
  x = net.add("hidden", Linear(20), {x});
  x = net.add("gelu", Activation(ActivationKind::gelu_tanh), {x});
  net.add("fc", Linear(5), {x});
  return net;
}

/// Branches that are concatenated, windows of all kinds, and channels that fill no block.
Network small_branching_network() {
  Network net;
  net.name = "branches";
  net.input = {3, 11, 11};
  net.unit("stem");
  int x = net.add("stem", Convolution({.out_channels = 16, .window = {.kernel = 3}, .bias = true}),
                  {network_input});
  x = net.add("norm", LocalResponseNorm({.size = 5, .alpha = 0.5F, .offset = 2}), {x});
  net.unit("branches");
  x = net.add("reduced",
              MaxPool({.kernel = 3, .stride = 2, .padding = 0, .dilation = 1, .trailing = 1}), {x});
  const int wide = net.add(
      "wide",
      Convolution({.out_channels = 16, .window = {.kernel = 3, .padding = 2, .dilation = 2}}), {x});
  const int narrow = net.add("narrow", Convolution({.out_channels = 5}), {x});
  const int mean =
      net.add("mean", AveragePool({.kernel = 3, .stride = 1, .padding = 1}, false), {x});
  x = net.add("branches", Concatenation(), {wide, narrow, mean});
  x = net.add("projection", Convolution({.out_channels = 24}), {x});
  x = net.add("shuffled", ChannelShuffle(3), {x});
  x = net.add(
      "depthwise",
      Convolution({.out_channels = 24, .window = {.kernel = 3, .padding = 1}, .groups = 24}), {x});
  net.unit("head");
  x = net.add("up",
              TransposedConvolution({.out_channels = 8,
                                     .window = {.kernel = 3, .stride = 2, .padding = 1},
                                     .output_padding = 1,
                                     .groups = 2}),
              {x});
  x = net.add("pool", AveragePool({.kernel = 4, .stride = 3, .padding = 1}, true), {x});
  x = net.add("avgpool", GlobalAveragePool(), {x});
  net.add("fc", Linear(5), {x});
  return net;
}

/// Constants of channels, parts of images, and edges of zeros, of images whose channels
/// fill blocks and of others.
Network small_network_of_channels() {
  Network net;
  net.name = "channels";
  net.input = {3, 8, 8};
  net.unit("stem");
  int x = net.add("offset", ChannelBias(), {network_input});
  x = net.add("edges", Padding({.top = 1, .left = 0, .bottom = 2, .right = 1}), {x});
  x = net.add("conv", Convolution({.out_channels = 16, .window = {.kernel = 3}}), {x});
  net.unit("parts");
  x = net.add("scale", ChannelScale(), {x});
  x = net.add("shift", ChannelBias(), {x});
  x = net.add("negated", Negation(), {x});
  const int first = net.add("first", ChannelSlice(0, 5), {x});
  const int second = net.add("second", ChannelSlice(5, 11), {x});
  const int inside =
      net.add("inside", Padding({.top = -1, .left = 0, .bottom = 1, .right = 0}), {first});
  x = net.add("joined", Concatenation(), {second, inside});
  x = net.add(
      "up",
      TransposedConvolution(
          {.out_channels = 6, .window = {.kernel = 3, .stride = 2, .padding = 1}, .bias = true}),
      {x});
  net.unit("head");
  x = net.add("odd scale", ChannelScale(), {x});
  x = net.add("odd negated", Negation(), {x});
  x = net.add("cut", Padding({.top = -2, .left = -1, .bottom = -3, .right = -2}), {x});
  x = net.add("avgpool", GlobalAveragePool(), {x});
  x = net.add("row scale", ChannelScale(), {x});
  x = net.add("row shift", ChannelBias(), {x});
  net.add("fc", Linear(5), {x});
  return net;
}

/// Sequences between constants of columns, and an LSTM without biases.
Network small_network_of_columns() {
  Network net;
  net.name = "columns";
  net.input = {4, 6};
  net.unit("first");
  int x = net.add("shift", ChannelBias(), {network_input});
  x = net.add("scale", ChannelScale(), {x});
  x = net.add("lstm", Lstm(5, false), {x});
  net.unit("second");
  x = net.add("scaled", ChannelScale(), {x});
  x = net.add("negated", Negation(), {x});
  net.add("fc", Linear(3), {x});
  return net;
}

}  // namespace

Network small_network(const std::string& name) {
  if (name == "composed sequences") return composed_network_of_sequences();
  if (name == "composed images") return composed_network_of_images();
  if (name == "toy") return toy_model();
  if (name == "plain") return small_plain_network();
  if (name == "skips") return network_with_skips();
  if (name == "branches") return small_branching_network();
  if (name == "channels") return small_network_of_channels();
  if (name == "columns") return small_network_of_columns();
  if (name == "unet") return unet({.image = 8, .layers = 2, .hidden = 4});
  if (name == "unet in blocks") return unet({.image = 4, .layers = 1, .hidden = 16});
  const std::int64_t blocks = name == "one block" ? 1 : name == "gpt" ? 2 : 0;
  if (blocks > 0) {
    return gpt({.layers = blocks, .hidden = 16, .heads = 2, .sequence = 5, .vocabulary = 11});
  }
  if (name == "tied gpt") {
    return gpt({.layers = 1,
                .hidden = 16,
                .heads = 2,
                .sequence = 5,
                .vocabulary = 11,
                .tied_head = true});
  }
  if (name == "rnn-lm") {
    return rnn_lm({.vocabulary = 11, .embedding = 9, .hidden = 16, .layers = 2, .sequence = 6});
  }
  return small_residual_network();
}

}  // namespace parbench::test
