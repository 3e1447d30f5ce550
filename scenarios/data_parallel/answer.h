// The answer of scenario data-parallel: the best strategy, its memory, and its weak scaling.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

inline constexpr std::string_view scaling_efficiency_metric = "scaling efficiency";

/// Returns whether only one device computes, although others were requested. There is nothing to
/// combine then, so all strategies are the same step.
[[nodiscard]] bool is_undivided(const CaseSpec& spec);

[[nodiscard]] Conclusion answer_of_data_parallel(const Scenario& scenario,
                                                 const std::vector<CaseOutcome>& outcomes,
                                                 const PossiblyFastest& possibly_fastest);

}  // namespace parbench
