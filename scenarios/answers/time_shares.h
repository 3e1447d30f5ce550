// Exposed communication, idle time and memory of devices, as sentences of answers.
#pragma once

#include <functional>
#include <string>

#include "scenarios/answers/recommend.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Appends exposed communication, idle time and peak memory to an answer: "Exposed communication,
/// idle, memory: dp2 3%, 2%, 41 MiB; …". Lists the profiled cases on several devices at the setting
/// of the best recommendation, without the baseline; if the text becomes too long, only the
/// recommended case and the cases tied with it. Returns the answer unchanged if it has no
/// recommendation, if no case was profiled, if other programs disturbed the measurement, or if the
/// text would still be too long.
[[nodiscard]] Conclusion with_time_shares(Conclusion conclusion, const Scenario& scenario,
                                          const Outcomes& outcomes,
                                          const std::function<std::string(const CaseSpec&)>& label);

}  // namespace parbench
