// The answer of scenario pipeline.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

// Strategies that the answer compares with one device.
inline constexpr std::string_view model_parallel = "model-parallel";
inline constexpr std::string_view pipelined_model = "pipeline";

/// Recommends a split for each model, batch and image size.
[[nodiscard]] Conclusion pipeline_answer(const std::vector<CaseOutcome>& outcomes,
                                         const PossiblyFastest& possibly_fastest);

}  // namespace parbench
