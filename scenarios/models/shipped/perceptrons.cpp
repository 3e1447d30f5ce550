// Chains of linear layers.
#include <fmt/format.h>

#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/models.h"

namespace parbench {

Network perceptron(std::int64_t layers, std::int64_t hidden) {
  Network net;
  net.name = fmt::format("mlp of {} layers of {}", layers, hidden);
  net.input = {hidden};
  net.one_hot_target = false;
  int x = network_input;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string name = fmt::format("linear{}", i);
    net.unit(name);
    x = net.add(name, Linear(hidden), {x});
    if (i + 1 < layers)
      x = net.add(fmt::format("relu{}", i), Activation(ActivationKind::relu), {x});
  }
  return net;
}

Network toy_model() {
  Network net;
  net.name = "toy";
  net.input = {10};
  net.one_hot_target = false;
  net.published_partition = {"net2"};
  net.unit("net1");
  int x = net.add("net1", Linear(10), {network_input});
  x = net.add("relu", Activation(ActivationKind::relu), {x});
  net.unit("net2");
  net.add("net2", Linear(5), {x});
  return net;
}

Network linear_model() {
  Network net;
  net.name = "linear";
  net.input = {5};
  net.one_hot_target = false;
  net.unit("fc");
  net.add("fc", Linear(2), {network_input});
  return net;
}

}  // namespace parbench
