// The answer of scenario overlap.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// The metric of overlapped cases: the fraction of the shorter part, computing or copying, that is
/// hidden by the other.
inline constexpr std::string_view achieved_overlap = "achieved overlap";

/// Recommends, for each size, direction, memory and chunk, whether to overlap, and how many
/// matrices to prefetch.
[[nodiscard]] Conclusion overlap_answer(const std::vector<CaseOutcome>& outcomes,
                                        const PossiblyFastest& possibly_fastest);

}  // namespace parbench
