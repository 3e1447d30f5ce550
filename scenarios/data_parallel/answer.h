// The answer of scenario data-parallel: the best strategy, its memory, and its weak scaling.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

inline constexpr std::string_view scaling_efficiency_metric = "scaling efficiency";

/// Whether the case has one device that computes, though others stand by: then there is nothing to
/// combine, and all strategies are the same step.
[[nodiscard]] bool is_undivided(const CaseSpec& spec);

[[nodiscard]] Conclusion answer_of_data_parallel(const Scenario& scenario,
                                                 const std::vector<CaseOutcome>& outcomes,
                                                 const PossiblyFastest& possibly_fastest);

}  // namespace parbench
