// A network layer by layer, and its loss.
#include "tests/scenarios/training/naive_network.h"

#include "scenarios/models/naive/layers.h"
#include "scenarios/models/naive/sequences.h"

namespace parbench::test {

double total_loss(const Network& network, const NamedParameters& parameters,
                  const std::vector<double>& images, const std::vector<double>& target,
                  std::int64_t samples) {
  std::vector<naive::Values> outputs;
  for (const Layer& layer : network.layers) {
    const auto input = [&](std::size_t which) -> const naive::Values& {
      const int index = layer.inputs[which];
      return index == network_input ? images : outputs[static_cast<std::size_t>(index)];
    };
    const auto index = static_cast<int>(outputs.size());
    const std::string& owner = network.layer(network.owner_of(index)).name;
    const auto parameter = [&](const char* suffix) { return parameters.at(owner + suffix); };
    outputs.push_back(naive::output_of(layer, network.input_of(layer), input, parameter, samples));
  }
  if (network.loss == Loss::cross_entropy) return naive::cross_entropy(outputs.back(), target);
  double sum = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    sum += (outputs.back()[i] - target[i]) * (outputs.back()[i] - target[i]);
  }
  return sum;
}

}  // namespace parbench::test
