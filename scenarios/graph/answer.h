// The answer of scenario graph.
#pragma once

#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Recommends an order for each graph. Compares the time in program order with the critical path
/// and with the bound of the plan by dependency, a lower limit for every order.
[[nodiscard]] Conclusion graph_answer(const Scenario& scenario,
                                      const std::vector<CaseOutcome>& outcomes,
                                      const PossiblyFastest& possibly_fastest);

}  // namespace parbench
