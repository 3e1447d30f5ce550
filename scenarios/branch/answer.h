// The answer of scenario branch.
#pragma once

#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Recommends a technique for each size, and names the work per layer up to which running the
/// branches together pays. The gain of launching as a graph does not count as a gain of running
/// together.
[[nodiscard]] Conclusion branch_answer(const std::vector<CaseOutcome>& outcomes,
                                       const PossiblyFastest& possibly_fastest);

}  // namespace parbench
