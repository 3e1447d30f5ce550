// The reference of divided steps: micro-batches one after the other, each through the whole
// network.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/framework/context.h"
#include "scenarios/training/step/layout.h"

namespace parbench {

/// Returns the layout of a step that processes the micro-batches one after the other, without
/// stages or copies. If the second device has the same kernels as the first, each of them processes
/// half of the batch. This does not change the result: micro-batches depend on each other only by
/// the sum of their gradients, which is computed when outputs are read, as is the clip factor.
[[nodiscard]] StepLayout in_turn(const Context& context,
                                 const std::vector<std::vector<std::int64_t>>& by_replica);

}  // namespace parbench
