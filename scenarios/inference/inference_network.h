// Networks for inference.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/models/network.h"

namespace parbench {

/// Removes dropouts, and merges a ReLU that is the only reader of a convolution into the
/// convolution. Other layers keep their names and order; normalisations compute as in training. A
/// dropout or a ReLU that is the network's output may stay.
[[nodiscard]] Network for_inference(const Network& network);

/// Returns why the network does not support a batch of `batch` samples, in terms of --batch; empty
/// if it does.
[[nodiscard]] std::string obstacle_to_batch(const Network& network, std::int64_t batch);

}  // namespace parbench
