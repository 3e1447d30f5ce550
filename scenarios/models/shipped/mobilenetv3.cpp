// MobileNetV3 by its tables of blocks.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"
#include "scenarios/models/shipped/composed_kinds.h"

namespace parbench {
namespace {

enum class Function { none, relu, hard_swish };

struct Inverted {
  std::int64_t kernel = 3;
  std::int64_t expanded = 1;  // channels of the depthwise convolution
  std::int64_t channels = 1;
  bool squeezes = false;
  Function function = Function::relu;
  std::int64_t stride = 1;
};

struct MobileNet {
  std::vector<Inverted> blocks;
  std::int64_t last = 0;        // channels before the pooling
  std::int64_t classifier = 0;  // outputs of the first linear layer after the pooling
};

MobileNet mobilenet_of(bool small) {
  constexpr Function re = Function::relu;
  constexpr Function hs = Function::hard_swish;
  if (small) {
    return {.blocks = {{3, 16, 16, true, re, 2},
                       {3, 72, 24, false, re, 2},
                       {3, 88, 24, false, re, 1},
                       {5, 96, 40, true, hs, 2},
                       {5, 240, 40, true, hs, 1},
                       {5, 240, 40, true, hs, 1},
                       {5, 120, 48, true, hs, 1},
                       {5, 144, 48, true, hs, 1},
                       {5, 288, 96, true, hs, 2},
                       {5, 576, 96, true, hs, 1},
                       {5, 576, 96, true, hs, 1}},
            .last = 576,
            .classifier = 1024};
  }
  return {.blocks = {{3, 16, 16, false, re, 1},
                     {3, 64, 24, false, re, 2},
                     {3, 72, 24, false, re, 1},
                     {5, 72, 40, true, re, 2},
                     {5, 120, 40, true, re, 1},
                     {5, 120, 40, true, re, 1},
                     {3, 240, 80, false, hs, 2},
                     {3, 200, 80, false, hs, 1},
                     {3, 184, 80, false, hs, 1},
                     {3, 184, 80, false, hs, 1},
                     {3, 480, 112, true, hs, 1},
                     {3, 672, 112, true, hs, 1},
                     {5, 672, 160, true, hs, 2},
                     {5, 960, 160, true, hs, 1},
                     {5, 960, 160, true, hs, 1}},
          .last = 960,
          .classifier = 1280};
}

/// Returns the channels between the two layers of a squeeze-and-excitation: a quarter of
/// `channels`, rounded to a multiple of 8 that is at least 90% of that quarter.
std::int64_t squeezed(std::int64_t channels) {
  constexpr std::int64_t multiple = 8;
  const std::int64_t quarter = channels / 4;
  const std::int64_t rounded = std::max(multiple, (quarter + multiple / 2) / multiple * multiple);
  return 10 * rounded < 9 * quarter ? rounded + multiple : rounded;
}

/// Appends a convolution without bias, a normalisation and, unless `function` is none, an
/// activation function.
int normalised_convolution(Network& net, const std::string& name, int input,
                           const Convolution::Options& options, Function function) {
  constexpr float epsilon = 1e-3F;
  int x = net.add(name + ".conv", Convolution(options), {input});
  x = net.add(name + ".bn", BatchNorm(function == Function::relu, epsilon), {x});
  if (function != Function::hard_swish) return x;
  return net.add(name + ".act", hard_swish(net.shape_of(x)), {x});
}

int squeeze_and_excitation(Network& net, const std::string& name, int input) {
  const Shape image = net.shape_of(input);
  int x = net.add(name + ".avgpool", GlobalAveragePool(), {input});
  x = net.add(name + ".fc1", Linear(squeezed(image.front())), {x});
  x = net.add(name + ".act", Activation(ActivationKind::relu), {x});
  x = net.add(name + ".fc2", Linear(image.front()), {x});
  return net.add(name, channel_gate(image), {input, x});
}

int inverted_residual(Network& net, const std::string& name, int input, const Inverted& block) {
  int x = input;
  const std::int64_t channels = net.shape_of(input).front();
  if (block.expanded != channels) {
    x = normalised_convolution(net, name + ".expand", x, {.out_channels = block.expanded},
                               block.function);
  }
  x = normalised_convolution(
      net, name + ".depthwise", x,
      {.out_channels = block.expanded,
       .window = {.kernel = block.kernel, .stride = block.stride, .padding = block.kernel / 2},
       .groups = block.expanded},
      block.function);
  if (block.squeezes) x = squeeze_and_excitation(net, name + ".squeeze", x);
  x = normalised_convolution(net, name + ".project", x, {.out_channels = block.channels},
                             Function::none);
  if (block.stride > 1 || block.channels != channels) return x;
  return net.add(name + ".residual", Addition(), {input, x});
}

}  // namespace

Network mobilenetv3(bool small, std::int64_t image) {
  check_image(image);
  const MobileNet table = mobilenet_of(small);
  Network net;
  net.name = small ? "mobilenetv3-small" : "mobilenetv3";
  net.input = {3, image, image};
  net.unit("stem");
  int x = normalised_convolution(
      net, "features.0", network_input,
      {.out_channels = 16, .window = {.kernel = 3, .stride = 2, .padding = 1}},
      Function::hard_swish);
  for (std::size_t i = 0; i < table.blocks.size(); ++i) {
    const std::string name = fmt::format("features.{}", i + 1);
    net.unit(name);
    x = inverted_residual(net, name, x, table.blocks[i]);
  }
  net.unit("head");
  x = normalised_convolution(net, "last", x, {.out_channels = table.last}, Function::hard_swish);
  x = net.add("avgpool", GlobalAveragePool(), {x});
  x = net.add("classifier.0", Linear(table.classifier), {x});
  x = net.add("classifier.1", hard_swish(net.shape_of(x)), {x});
  net.add("classifier.3", Linear(image_classes), {x});
  return net;
}

}  // namespace parbench
