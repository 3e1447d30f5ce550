// An answer for scenarios whose strategies do the same work and need no wording of their own.
#pragma once

#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Recommends a strategy for each combination of the parameters that all strategies have. Cases are
/// simpler in the order of `Scenario::strategies`, those of one strategy in their own order.
[[nodiscard]] Conclusion best_strategy(const Scenario& scenario,
                                       const std::vector<CaseOutcome>& outcomes,
                                       const PossiblyFastest& possibly_fastest);

}  // namespace parbench
