// The loss of a network by plain loops in double precision: what training is checked against.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench::test {

using NamedParameters = std::map<std::string, std::vector<double>>;

/// Σ(prediction − target)² of one micro-batch, whose own statistics normalise it. `images` and
/// `target` are canonical, samples outermost.
[[nodiscard]] double squared_error(const Network& network, const NamedParameters& parameters,
                                   const std::vector<double>& images,
                                   const std::vector<double>& target, std::int64_t samples);

}  // namespace parbench::test
