// Convolutions and sums of images.
#include "tests/scenarios/training/skips.h"

#include <cstdint>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"

namespace parbench::test {

Network network_with_skips() {
  constexpr std::int64_t channels = 16;
  const Convolution convolution(
      {.out_channels = channels, .window = {.kernel = 3, .padding = 1}, .bias = true});
  const Activation function(ActivationKind::gelu_tanh);
  Network net;
  net.name = "skips";
  net.input = {3, 6, 6};
  net.unit("stem");
  int x = net.add("stem", convolution, {network_input});
  const int stem = net.add("stem.gelu", function, {x});
  net.unit("left");
  x = net.add("left.conv", convolution, {stem});
  const int left = net.add("left.gelu", function, {x});
  net.unit("right");
  x = net.add("right.conv", convolution, {left});
  const int again = net.add("right.again", convolution, {network_input});
  x = net.add("right.sum", Addition(), {x, again});
  const int right = net.add("right.gelu", function, {x});
  net.unit("head");
  x = net.add("head.sum", Addition(), {right, stem});
  x = net.add("avgpool", GlobalAveragePool(), {x});
  net.add("fc", Linear(5), {x});
  return net;
}

}  // namespace parbench::test
