// The reference of divided steps: micro-batches one after the other, each through the whole
// network.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/framework/context.h"
#include "scenarios/training/step/layout.h"

namespace parbench {

/// Returns the layout of a step that processes the micro-batches one after the other, without
/// stages or copies. If the second device is like the first, each of them processes about half of
/// the batch. The result is the same as on one device: the sums of gradients over both devices, and
/// the clip factor, are computed when outputs are read.
[[nodiscard]] StepLayout in_turn(const Context& context,
                                 const std::vector<std::vector<std::int64_t>>& by_replica);

}  // namespace parbench
