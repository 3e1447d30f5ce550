// Convolutional networks like ConvNeXt.
#include <fmt/format.h>

#include <array>
#include <string>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"
#include "scenarios/models/shipped/composed_kinds.h"

namespace parbench {
namespace {

/// Appends parts of a network. Functions return the last layer that they append.
class ConvNextParts {
 public:
  explicit ConvNextParts(Network& net) : net_(net) {}

  /// Appends a convolution with disjoint windows.
  int patches(const std::string& name, std::int64_t channels, std::int64_t side, int input) {
    return net_.add(
        name,
        Convolution(
            {.out_channels = channels, .window = {.kernel = side, .stride = side}, .bias = true}),
        {input});
  }

  /// Normalises the channels of each pixel.
  int norm(const std::string& name, int input) {
    const Shape image = net_.shape_of(input);
    int x = net_.add(name + ".rows", image_rows(image), {input});
    x = net_.add(name, LayerNorm(epsilon), {x});
    return net_.add(name + ".image", rows_image(image), {x});
  }

  int block(const std::string& name, int input) {
    constexpr std::int64_t expansion = 4;
    const Shape image = net_.shape_of(input);
    const std::int64_t channels = image.front();
    int x = net_.add(name + ".dwconv",
                     Convolution({.out_channels = channels,
                                  .window = {.kernel = 7, .padding = 3},
                                  .groups = channels,
                                  .bias = true}),
                     {input});
    x = net_.add(name + ".rows", image_rows(image), {x});
    x = net_.add(name + ".norm", LayerNorm(epsilon), {x});
    x = net_.add(name + ".pwconv1", Linear(expansion * channels), {x});
    x = net_.add(name + ".act", Activation(ActivationKind::gelu), {x});
    x = net_.add(name + ".pwconv2", Linear(channels), {x});
    return net_.add(name, scaled_residual(image), {x, input});
  }

  int head(int input) {
    int x = net_.add("avgpool", GlobalAveragePool(), {input});
    x = net_.add("norm", LayerNorm(epsilon), {x});
    return net_.add("head", Linear(image_classes), {x});
  }

 private:
  static constexpr float epsilon = 1e-6F;
  Network& net_;
};

}  // namespace

Network convnext(const ConvNextSizes& sizes) {
  check_image(sizes.image);
  const std::array<std::int64_t, 4> depths{3, 3, sizes.layers, 3};
  Network net;
  net.name =
      fmt::format("convnext of {} blocks from {} channels on", 9 + sizes.layers, sizes.hidden);
  net.input = {3, sizes.image, sizes.image};
  ConvNextParts parts(net);
  net.unit("stem");
  int x = parts.patches("stem.conv", sizes.hidden, 4, network_input);
  x = parts.norm("stem.norm", x);
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    for (std::int64_t i = 0; i < depths.at(stage); ++i) {
      const std::string name = fmt::format("stages.{}.{}", stage, i);
      net.unit(name);
      if (stage > 0 && i == 0) {
        x = parts.norm(name + ".downsample.norm", x);
        x = parts.patches(name + ".downsample.conv", sizes.hidden << stage, 2, x);
      }
      x = parts.block(name, x);
    }
  }
  net.unit("head");
  parts.head(x);
  return net;
}

}  // namespace parbench
