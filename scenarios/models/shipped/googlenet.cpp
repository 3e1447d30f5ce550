// GoogLeNet by its table of modules.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

/// Channels of the four branches: 1×1; 1×1 before 3×3; again 1×1 before 3×3; pooling before 1×1.
struct Inception {
  std::string_view name;
  std::int64_t direct = 0;
  std::int64_t reduced = 0;
  std::int64_t wide = 0;
  std::int64_t reduced_more = 0;
  std::int64_t narrow = 0;
  std::int64_t pooled = 0;
  std::int64_t pool_before =
      0;  // window size of a pooling with stride 2 before the module; 0: none
};

constexpr std::array<Inception, 9> modules{{{"inception3a", 64, 96, 128, 16, 32, 32, 0},
                                            {"inception3b", 128, 128, 192, 32, 96, 64, 0},
                                            {"inception4a", 192, 96, 208, 16, 48, 64, 3},
                                            {"inception4b", 160, 112, 224, 24, 64, 64, 0},
                                            {"inception4c", 128, 128, 256, 24, 64, 64, 0},
                                            {"inception4d", 112, 144, 288, 32, 64, 64, 0},
                                            {"inception4e", 256, 160, 320, 32, 128, 128, 0},
                                            {"inception5a", 256, 160, 320, 32, 128, 128, 2},
                                            {"inception5b", 384, 192, 384, 48, 128, 128, 0}}};

/// Appends a convolution without bias, a normalisation and a ReLU.
int convolution_unit(Network& net, const std::string& name, int input, std::int64_t channels,
                     Window window) {
  constexpr float epsilon = 1e-3F;
  const int x =
      net.add(name + ".conv", Convolution({.out_channels = channels, .window = window}), {input});
  return net.add(name + ".bn", BatchNorm(true, epsilon), {x});
}

int inception(Network& net, const Inception& module, int input) {
  constexpr Window one{.kernel = 1};
  constexpr Window three{.kernel = 3, .padding = 1};
  const std::string name(module.name);
  const int direct = convolution_unit(net, name + ".branch1", input, module.direct, one);
  int wide = convolution_unit(net, name + ".branch2.0", input, module.reduced, one);
  wide = convolution_unit(net, name + ".branch2.1", wide, module.wide, three);
  int narrow = convolution_unit(net, name + ".branch3.0", input, module.reduced_more, one);
  narrow = convolution_unit(net, name + ".branch3.1", narrow, module.narrow, three);
  int pooled = net.add(name + ".branch4.0", MaxPool(three), {input});
  pooled = convolution_unit(net, name + ".branch4.1", pooled, module.pooled, one);
  return net.add(name, Concatenation(), {direct, wide, narrow, pooled});
}

/// Appends a pooling with stride 2, whose last window may extend beyond the edge, as in
/// torchvision.
int halved(Network& net, std::string name, int input, std::int64_t kernel) {
  return net.add(std::move(name), MaxPool({.kernel = kernel, .stride = 2, .trailing = 1}), {input});
}

}  // namespace

Network googlenet(std::int64_t image) {
  check_image(image);
  Network net;
  net.name = "googlenet";
  net.input = {3, image, image};
  net.unit("stem");
  int x =
      convolution_unit(net, "conv1", network_input, 64, {.kernel = 7, .stride = 2, .padding = 3});
  x = halved(net, "maxpool1", x, 3);
  x = convolution_unit(net, "conv2", x, 64, {.kernel = 1});
  x = convolution_unit(net, "conv3", x, 192, {.kernel = 3, .padding = 1});
  x = halved(net, "maxpool2", x, 3);
  for (const Inception& module : modules) {
    net.unit(std::string(module.name));
    if (module.pool_before > 0) {
      x = halved(net, fmt::format("maxpool{}", module.pool_before == 3 ? 3 : 4), x,
                 module.pool_before);
    }
    x = inception(net, module, x);
  }
  net.unit("head");
  x = net.add("avgpool", GlobalAveragePool(), {x});
  net.add("fc", Linear(image_classes), {x});
  return net;
}

}  // namespace parbench
