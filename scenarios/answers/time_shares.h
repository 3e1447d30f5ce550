// What devices do beside computing, and the memory they hold, as sentences of answers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Appends to an answer the exposed communication, the idle time and the peak memory of the
/// profiled cases at the setting of its best recommendation, but those of the baseline: "Exposed
/// communication, idle, memory: dp2 3%, 2%, 41 MiB; …". The answer stays as it is
/// where it has no recommendation, no case was profiled, or it would become too long.
[[nodiscard]] Conclusion with_time_shares(Conclusion conclusion, const Scenario& scenario,
                                          const std::vector<CaseOutcome>& outcomes,
                                          const std::function<std::string(const CaseSpec&)>& label);

}  // namespace parbench
