// What the overlap scenario concludes from its cases.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// How much of the shorter part, computing or copying, disappears behind the other: the metric of
/// overlapped cases.
inline constexpr std::string_view achieved_overlap = "achieved overlap";

/// Recommends, for each size, direction, memory and chunk, whether to overlap and how far ahead.
[[nodiscard]] Conclusion overlap_answer(const std::vector<CaseOutcome>& outcomes,
                                        const PossiblyFastest& possibly_fastest);

}  // namespace parbench
