// The default answer, for scenarios whose strategies do the same work.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns the names of the axes that all strategies share.
[[nodiscard]] std::vector<std::string_view> common_axes(const Scenario& scenario);

/// Recommends a strategy for each combination of the parameters that all strategies have.
/// Strategies are listed in `Scenario::strategies` from simple to complex; cases of one strategy
/// are ordered likewise.
[[nodiscard]] Conclusion best_strategy(const Scenario& scenario,
                                       const std::vector<CaseOutcome>& outcomes,
                                       const PossiblyFastest& possibly_fastest);

/// The same, with `label` as the name of a case instead of its strategy.
[[nodiscard]] Conclusion best_strategy(const Scenario& scenario,
                                       const std::vector<CaseOutcome>& outcomes,
                                       const PossiblyFastest& possibly_fastest,
                                       const std::function<std::string(const CaseSpec&)>& label);

}  // namespace parbench
