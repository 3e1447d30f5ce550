// Work of a network's layers by definition, independent of the device.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/work.h"
#include "scenarios/models/network.h"

namespace parbench {

/// Returns the FLOPs and the minimum traffic of each layer's forward pass in f32. They depend only
/// on the descriptions of the layer's operations, so they are the same on every machine.
[[nodiscard]] std::vector<Work> layer_work(const Network& network, std::int64_t batch);

}  // namespace parbench
