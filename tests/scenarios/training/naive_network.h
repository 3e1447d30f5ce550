// The loss of a network by plain loops in double precision: what training is checked against.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench::test {

using NamedParameters = std::map<std::string, std::vector<double>>;

/// The network's loss of one micro-batch, whose own statistics normalise it, as a sum:
/// Σ(prediction − target)² over elements, or Σ −log softmax over positions. `images` and `target`
/// are canonical, samples outermost.
[[nodiscard]] double total_loss(const Network& network, const NamedParameters& parameters,
                                const std::vector<double>& images,
                                const std::vector<double>& target, std::int64_t samples);

}  // namespace parbench::test
