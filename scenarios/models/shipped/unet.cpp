// U-Net: an encoder, and a decoder that reads the encoder's images of the same size.
#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

constexpr Window halving{.kernel = 2, .stride = 2};

/// Appends a 3×3 convolution without bias, a normalisation and a ReLU, twice. Returns the last
/// layer.
int double_convolution(Network& net, const std::string& name, int input, std::int64_t channels) {
  constexpr Window same_size{.kernel = 3, .padding = 1};
  int x = input;
  for (const int number : {1, 2}) {
    x = net.add(fmt::format("{}.conv{}", name, number),
                Convolution({.out_channels = channels, .window = same_size}), {x});
    x = net.add(fmt::format("{}.bn{}", name, number), BatchNorm(true), {x});
  }
  return x;
}

void check_unet(const UnetSizes& sizes) {
  constexpr std::int64_t max_layers = 8;
  if (sizes.layers < 1 || sizes.layers > max_layers) {
    throw std::invalid_argument(
        fmt::format("--layers {} is not possible; a U-Net halves its "
                    "images 1 to {} times",
                    sizes.layers, max_layers));
  }
  const std::int64_t parts = std::int64_t{1} << static_cast<unsigned>(sizes.layers);
  if (sizes.image % parts != 0) {
    throw std::invalid_argument(
        fmt::format("--image {} cannot be halved {} times; use a multiple of {}", sizes.image,
                    sizes.layers, parts));
  }
}

}  // namespace

Network unet(const UnetSizes& sizes) {
  constexpr std::int64_t image_channels = 3;
  constexpr std::int64_t classes = 2;
  check_unet(sizes);
  Network net;
  net.name = fmt::format("unet of {} levels from {} channels, {} classes", sizes.layers,
                         sizes.hidden, classes);
  net.input = {image_channels, sizes.image, sizes.image};
  net.one_hot_target = false;  // the target has a value for each class of each pixel
  std::vector<int> levels;
  std::int64_t channels = sizes.hidden;
  int x = network_input;
  for (std::int64_t level = 0; level < sizes.layers; ++level, channels *= 2) {
    const std::string name = fmt::format("down.{}", level);
    net.unit(name);
    if (level > 0) x = net.add(name + ".pool", MaxPool(halving), {x});
    x = double_convolution(net, name, x, channels);
    levels.push_back(x);
  }
  net.unit("bottom");
  x = net.add("bottom.pool", MaxPool(halving), {x});
  x = double_convolution(net, "bottom", x, channels);
  for (std::int64_t level = sizes.layers - 1; level >= 0; --level) {
    const std::string name = fmt::format("up.{}", level);
    channels /= 2;
    net.unit(name);
    x = net.add(name + ".up", TransposedConvolution({.out_channels = channels, .window = halving}),
                {x});
    x = net.add(name + ".cat", Concatenation(), {levels[static_cast<std::size_t>(level)], x});
    x = double_convolution(net, name, x, channels);
  }
  net.unit("head");
  net.add("head", Convolution({.out_channels = classes, .bias = true}), {x});
  return net;
}

}  // namespace parbench
