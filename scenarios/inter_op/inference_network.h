// Networks as inference has them.
#pragma once

#include "scenarios/models/network.h"

namespace parbench {

/// Leaves out dropouts, and makes a ReLU that alone reads a convolution a part of it. Layers that
/// remain keep their names and order; normalisations stay those of training.
[[nodiscard]] Network for_inference(const Network& network);

}  // namespace parbench
