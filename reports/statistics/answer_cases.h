// The cases that an answer speaks of: readers look for their reasons first.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Returns whether a case computes on several devices, by its profile, or else by the devices on
/// which it holds memory.
[[nodiscard]] bool divides_work(const CaseResult& one);

/// Returns the names of the recommended cases, one for each setting.
[[nodiscard]] std::set<std::string> recommended_cases(const Answer& answer);

/// Returns the names of the recommended cases, or where such a case does not divide the work, of
/// the fastest case beside the same baseline that does. Where there is none, of the case whose gain
/// the answer states.
[[nodiscard]] std::set<std::string> cases_of_answer(const Answer& answer,
                                                    const std::vector<CaseResult>& cases);

}  // namespace parbench::report
