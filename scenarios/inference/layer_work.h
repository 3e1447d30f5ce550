// What the layers of a network take by definition, on whatever device.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/work.h"
#include "scenarios/models/network.h"

namespace parbench {

/// Returns the FLOPs and the least traffic of each layer's forward pass in f32. They follow from
/// the descriptions of its operations alone, so that they are the same on every machine.
[[nodiscard]] std::vector<Work> layer_work(const Network& network, std::int64_t batch);

}  // namespace parbench
