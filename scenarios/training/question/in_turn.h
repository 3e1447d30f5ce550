// The reference of divided steps: micro-batches one after the other, each through the whole
// network.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/framework/context.h"
#include "scenarios/training/step/layout.h"

namespace parbench {

/// The layout of a step that trains on the micro-batches one after the other, without stages or
/// copies. The first device and the second, if it is like the first, take a run of micro-batches
/// each: the micro-batches of a step depend on each other only by the sum of their gradients, which
/// is formed when outputs are read, and the clip factor is computed from that sum.
[[nodiscard]] StepLayout in_turn(const Context& context,
                                 const std::vector<std::int64_t>& micro_batches);

/// The micro-batches of all replicas, in the order of their samples.
[[nodiscard]] std::vector<std::int64_t> all_micro_batches(
    const std::vector<std::vector<std::int64_t>>& by_replica);

/// Whether a part of the batch computes something else alone than within the batch: normalisations
/// see its statistics, and dropouts draw by the position in it.
[[nodiscard]] bool depends_on_division(const Network& network);

}  // namespace parbench
