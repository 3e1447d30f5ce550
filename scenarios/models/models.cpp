// Layer lists of the models.
#include "scenarios/models/models.h"

#include <fmt/format.h>

#include <array>

namespace parbench {
namespace {

constexpr std::int64_t expansion = 4;  // of a bottleneck's last convolution

/// 1×1 down, 3×3, 1×1 up, with the identity or a projection beside them. Returns the last layer.
int bottleneck(Network& net, const std::string& name, int input, std::int64_t width,
               std::int64_t stride, bool projects) {
  int x = net.convolution(name + ".conv1", input, width, 1, 1, 0);
  x = net.batch_norm(name + ".bn1", x, true);
  x = net.convolution(name + ".conv2", x, width, 3, stride, 1);
  x = net.batch_norm(name + ".bn2", x, true);
  x = net.convolution(name + ".conv3", x, width * expansion, 1, 1, 0);
  int shortcut = input;
  if (projects) {
    shortcut = net.convolution(name + ".downsample.0", input, width * expansion, 1, stride, 0);
    shortcut = net.batch_norm(name + ".downsample.1", shortcut, false);
  }
  return net.batch_norm(name + ".bn3", x, true, shortcut);
}

}  // namespace

Network resnet50(std::int64_t image, std::int64_t classes) {
  Network net;
  net.name = "resnet50";
  net.input = {3, image, image};
  net.published_partition = {"layer3.0"};

  net.unit("stem");
  int x = net.convolution("conv1", network_input, 64, 7, 2, 3);
  x = net.batch_norm("bn1", x, true);
  x = net.max_pool(x, 3, 2, 1);

  constexpr std::array<int, 4> blocks = {3, 4, 6, 3};
  for (int group = 0; group < 4; ++group) {
    for (int block = 0; block < blocks.at(group); ++block) {
      const std::string name = fmt::format("layer{}.{}", group + 1, block);
      const bool first = block == 0;
      net.unit(name);
      x = bottleneck(net, name, x, std::int64_t{64} << group, first && group > 0 ? 2 : 1, first);
    }
  }

  net.unit("head");
  x = net.global_average_pool(x);
  net.linear("fc", x, classes);
  return net;
}

Network toy_model() {
  Network net;
  net.name = "toy";
  net.input = {10};
  net.one_hot_target = false;
  net.published_partition = {"net2"};
  net.unit("net1");
  int x = net.linear("net1", network_input, 10);
  x = net.relu(x);
  net.unit("net2");
  net.linear("net2", x, 5);
  return net;
}

}  // namespace parbench
