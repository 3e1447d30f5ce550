// The reference of divided steps: micro-batches one after the other, each through the whole
// network.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/framework/context.h"
#include "scenarios/training/step/layout.h"

namespace parbench {

/// Returns the layout of a step that processes the micro-batches one after the other, without
/// stages or copies. The first device, and the second if it has the same kernels, process
/// consecutive micro-batches each. This is equivalent, because micro-batches of a step depend on
/// each other only by the sum of their gradients: it is computed when outputs are read, and the
/// clip factor is computed from that sum.
[[nodiscard]] StepLayout in_turn(const Context& context,
                                 const std::vector<std::vector<std::int64_t>>& by_replica);

}  // namespace parbench
