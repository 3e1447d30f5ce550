// The answer of scenario collectives.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Name of a metric that every case has.
inline constexpr std::string_view bus_bandwidth = "bus bandwidth";

/// Returns the number of consecutive collectives in one execution of a case.
[[nodiscard]] std::int64_t calls_in(const CaseSpec& spec);

/// Recommends an algorithm for each collective and size, and fits the times of each algorithm over
/// sizes: latency and bandwidth with their standard errors.
[[nodiscard]] Conclusion collectives_answer(const std::vector<CaseOutcome>& outcomes,
                                            const PossiblyFastest& possibly_fastest);

}  // namespace parbench
