// The reference of a pipelined step: the same chunks, each through the whole model on one device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Adds a plan and outputs that train on the chunks one after the other, without stages or copies.
/// The first device and another like it take a run of chunks each: the chunks of one step depend on
/// each other only by the sum of their gradients, which is formed when the outputs are read.
/// Returns one replica of the whole model for each device that has chunks.
[[nodiscard]] std::vector<std::unique_ptr<Stage>> add_chunks_in_turn(
    CaseParts& parts, const StageRange& whole, const std::vector<std::int64_t>& chunks);

}  // namespace parbench
