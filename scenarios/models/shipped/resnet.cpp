// Residual networks by their tables of blocks.
#include <fmt/format.h>

#include <array>
#include <map>
#include <stdexcept>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

// ratio of output to inner channels of a bottleneck
constexpr std::int64_t bottleneck_expansion = 4;

/// Number of blocks in each of the four groups, and whether they are bottlenecks.
struct Blocks {
  std::array<int, 4> counts;
  bool bottlenecks = false;
};

const Blocks& blocks_of(int depth) {
  static const std::map<int, Blocks> by_depth = {{18, {{2, 2, 2, 2}, false}},
                                                 {34, {{3, 4, 6, 3}, false}},
                                                 {50, {{3, 4, 6, 3}, true}},
                                                 {101, {{3, 4, 23, 3}, true}},
                                                 {152, {{3, 8, 36, 3}, true}}};
  const auto found = by_depth.find(depth);
  if (found == by_depth.end()) {
    throw std::invalid_argument(
        fmt::format("no ResNet-{}; the depth is 18, 34, 50, 101 or 152", depth));
  }
  return found->second;
}

/// Appends a convolution without bias whose padding keeps the image size (for stride 1).
int convolution(Network& net, std::string name, int input, std::int64_t channels,
                std::int64_t kernel, std::int64_t stride) {
  return net.add(
      std::move(name),
      Convolution({.out_channels = channels,
                   .window = {.kernel = kernel, .stride = stride, .padding = (kernel - 1) / 2}}),
      {input});
}

struct BlockOptions {
  std::string name;
  std::int64_t width = 64;
  std::int64_t stride = 1;
  bool projects = false;  // whether the shortcut has a projection
};

/// Appends the end of a block: the projection of the shortcut, if there is one, and the last
/// normalisation, to which the shortcut is added. Returns the last layer.
int block_end(Network& net, const BlockOptions& block, int input, const std::string& norm, int x,
              std::int64_t channels) {
  int shortcut = input;
  if (block.projects) {
    shortcut = convolution(net, block.name + ".downsample.0", input, channels, 1, block.stride);
    shortcut = net.add(block.name + ".downsample.1", BatchNorm(false), {shortcut});
  }
  return net.add(block.name + norm, BatchNorm(true), {x, shortcut});
}

/// Appends two 3×3 convolutions, with an identity or projection shortcut.
int basic_block(Network& net, const BlockOptions& block, int input) {
  int x = convolution(net, block.name + ".conv1", input, block.width, 3, block.stride);
  x = net.add(block.name + ".bn1", BatchNorm(true), {x});
  x = convolution(net, block.name + ".conv2", x, block.width, 3, 1);
  return block_end(net, block, input, ".bn2", x, block.width);
}

/// Appends 1×1 (fewer channels), 3×3 and 1×1 convolutions, with an identity or projection shortcut.
int bottleneck(Network& net, const BlockOptions& block, int input) {
  const std::int64_t channels = block.width * bottleneck_expansion;
  int x = convolution(net, block.name + ".conv1", input, block.width, 1, 1);
  x = net.add(block.name + ".bn1", BatchNorm(true), {x});
  x = convolution(net, block.name + ".conv2", x, block.width, 3, block.stride);
  x = net.add(block.name + ".bn2", BatchNorm(true), {x});
  x = convolution(net, block.name + ".conv3", x, channels, 1, 1);
  return block_end(net, block, input, ".bn3", x, channels);
}

}  // namespace

Network resnet(int depth, std::int64_t image) {
  check_image(image);
  const Blocks& blocks = blocks_of(depth);
  Network net;
  net.name = fmt::format("resnet{}", depth);
  net.input = {3, image, image};
  if (depth == 50) net.published_partition = {"layer3.0"};

  net.unit("stem");
  int x = convolution(net, "conv1", network_input, 64, 7, 2);
  x = net.add("bn1", BatchNorm(true), {x});
  x = net.add("maxpool", MaxPool({.kernel = 3, .stride = 2, .padding = 1}), {x});
  for (int group = 0; group < 4; ++group) {
    for (int number = 0; number < blocks.counts.at(static_cast<std::size_t>(group)); ++number) {
      const bool first = number == 0;
      const BlockOptions block{.name = fmt::format("layer{}.{}", group + 1, number),
                               .width = std::int64_t{64} << group,
                               .stride = first && group > 0 ? 2 : 1,
                               .projects = first && (group > 0 || blocks.bottlenecks)};
      net.unit(block.name);
      x = blocks.bottlenecks ? bottleneck(net, block, x) : basic_block(net, block, x);
    }
  }
  net.unit("head");
  x = net.add("avgpool", GlobalAveragePool(), {x});
  net.add("fc", Linear(image_classes), {x});
  return net;
}

}  // namespace parbench
