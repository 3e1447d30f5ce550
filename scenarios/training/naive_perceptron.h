// A training step of a multi-layer perceptron by plain loops: what small models are checked against
// completely.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench {

/// Whether a network is a chain of linear layers and ReLUs.
[[nodiscard]] bool is_perceptron(const Network& network);

using NamedValues = std::map<std::string, std::vector<double>>;

struct NaiveStep {
  double loss = 0;
  NamedValues gradients;  // by parameter name
};

/// Forward, mean squared error and backward over a whole batch in double. Values that a device
/// keeps in `dtype` (weights, activations, their gradients) are rounded to it. `images` and
/// `target` are canonical, samples outermost. Throws std::invalid_argument for a network that is no
/// perceptron.
[[nodiscard]] NaiveStep naive_step(const Network& network, const NamedValues& parameters,
                                   const std::vector<double>& images,
                                   const std::vector<double>& target, std::int64_t samples,
                                   DType dtype);

}  // namespace parbench
