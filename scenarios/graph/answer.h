// What scenario graph concludes from its cases.
#pragma once

#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Recommends an order for each graph, and sets the critical path and the bound of the plan by
/// dependency, which no order of it can undercut, beside the time in program order.
[[nodiscard]] Conclusion graph_answer(const Scenario& scenario,
                                      const std::vector<CaseOutcome>& outcomes,
                                      const PossiblyFastest& possibly_fastest);

}  // namespace parbench
