// The answer of scenario matmul.
#pragma once

#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Recommends, for each size, how to use several devices and whether to use streams on one.
[[nodiscard]] Conclusion matmul_answer(const std::vector<CaseOutcome>& outcomes,
                                       const PossiblyFastest& possibly_fastest);

}  // namespace parbench
