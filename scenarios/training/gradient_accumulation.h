// The reference of a pipelined step: the same micro-batches, each through the whole model on one
// device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Adds a plan and outputs that train on the micro-batches one after the other, without stages or
/// copies. The first device and another like it take a run of micro-batches each: the micro-batches
/// of one step depend on each other only by the sum of their gradients, which is formed when the
/// outputs are read, and what clips gradients is computed from that sum. Returns one replica of the
/// whole model for each device that has micro-batches.
[[nodiscard]] std::vector<std::unique_ptr<Stage>> add_gradient_accumulation(
    CaseParts& parts, const StageRange& whole, const std::vector<std::int64_t>& micro_batches,
    const Optimizer& optimizer = {});

/// Whether a part of the batch computes something else alone than within the batch: normalisations
/// see its statistics, and dropouts draw by the position in it.
[[nodiscard]] bool depends_on_division(const Network& network);

}  // namespace parbench
