// VGG by its table of convolutions.
#include <fmt/format.h>

#include <array>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

/// Convolutions with equal channels, followed by a pooling.
struct Group {
  int convolutions;
  std::int64_t channels;
};
constexpr std::array<Group, 5> vgg16_groups{{{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}};

/// Appends a linear layer, a ReLU and a dropout. Returns the last layer.
int classifier_layer(Network& net, int number, int input) {
  constexpr std::int64_t features = 4096;
  constexpr float probability = 0.5F;
  int x = net.add(fmt::format("classifier.{}", number), Linear(features), {input});
  x = net.add(fmt::format("classifier.{}", number + 1), Activation(ActivationKind::relu), {x});
  return net.add(fmt::format("classifier.{}", number + 2),
                 RandomDropout(probability, static_cast<std::uint64_t>(number)), {x});
}

}  // namespace

Network vgg16(std::int64_t image) {
  check_image(image);
  const Convolution::Options options{.window = {.kernel = 3, .stride = 1, .padding = 1},
                                     .bias = true};
  Network net;
  net.name = "vgg16";
  net.input = {3, image, image};
  int x = network_input;
  int number = 0;  // torchvision also numbers poolings and ReLUs
  for (const auto& [convolutions, channels] : vgg16_groups) {
    net.unit(fmt::format("features.{}", number));
    for (int i = 0; i < convolutions; ++i) {
      Convolution::Options convolution = options;
      convolution.out_channels = channels;
      x = net.add(fmt::format("features.{}", number++), Convolution(convolution), {x});
      x = net.add(fmt::format("features.{}", number++), Activation(ActivationKind::relu), {x});
    }
    x = net.add(fmt::format("features.{}", number++), MaxPool({.kernel = 2, .stride = 2}), {x});
  }
  net.unit("classifier");
  x = net.add("flatten", Flatten(), {x});
  x = classifier_layer(net, 0, x);
  x = classifier_layer(net, 3, x);
  net.add("classifier.6", Linear(image_classes), {x});
  return net;
}

}  // namespace parbench
