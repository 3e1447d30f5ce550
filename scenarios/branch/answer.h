// What the branch scenario concludes from its cases.
#pragma once

#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Recommends a technique for each size, and names the work of a layer up to which running the
/// branches together pays. What launching as a graph gains by itself is no gain of running
/// together.
[[nodiscard]] Conclusion branch_answer(const std::vector<CaseOutcome>& outcomes,
                                       const PossiblyFastest& possibly_fastest);

}  // namespace parbench
