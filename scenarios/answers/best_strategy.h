// An answer for scenarios whose strategies do the same work and need no wording of their own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// The names of the axes by which cases of all strategies are distinguished.
[[nodiscard]] std::vector<std::string_view> common_axes(const Scenario& scenario);

/// Recommends a strategy for each combination of the parameters that all strategies have. Cases are
/// simpler in the order of `Scenario::strategies`, those of one strategy in their own order.
[[nodiscard]] Conclusion best_strategy(const Scenario& scenario,
                                       const std::vector<CaseOutcome>& outcomes,
                                       const PossiblyFastest& possibly_fastest);

/// The same, with names of cases other than their strategies.
[[nodiscard]] Conclusion best_strategy(const Scenario& scenario,
                                       const std::vector<CaseOutcome>& outcomes,
                                       const PossiblyFastest& possibly_fastest,
                                       const std::function<std::string(const CaseSpec&)>& label);

}  // namespace parbench
