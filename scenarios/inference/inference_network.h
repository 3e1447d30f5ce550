// Networks as inference has them.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/models/network.h"

namespace parbench {

/// Leaves out dropouts, and makes a ReLU that alone reads a convolution a part of it. Layers that
/// remain keep their names and order; normalisations stay those of training.
[[nodiscard]] Network for_inference(const Network& network);

/// Why the network cannot take a batch of so many samples, in terms of --batch; empty where it can.
[[nodiscard]] std::string obstacle_to_batch(const Network& network, std::int64_t batch);

}  // namespace parbench
