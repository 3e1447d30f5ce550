// What the pipeline scenario concludes from its cases.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

// The strategies that the answer compares.
inline constexpr std::string_view model_parallel = "model-parallel";
inline constexpr std::string_view pipelined = "pipeline";

/// Names the split with the lowest median for each model, batch and image, and whether it pays.
[[nodiscard]] std::string pipeline_answer(const std::vector<CaseOutcome>& outcomes);

}  // namespace parbench
