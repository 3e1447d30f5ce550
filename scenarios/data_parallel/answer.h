// The answer of scenario data-parallel: the best strategy, its memory, and its weak scaling.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

inline constexpr std::string_view scaling_efficiency_metric = "scaling efficiency";

[[nodiscard]] Conclusion answer_of_data_parallel(const Scenario& scenario,
                                                 const std::vector<CaseOutcome>& outcomes,
                                                 const PossiblyFastest& possibly_fastest);

}  // namespace parbench
