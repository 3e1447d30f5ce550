// The cases that an answer is about; findings on them are listed first.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Returns whether a case computes on several devices, by its profile, or else by the devices on
/// which it holds memory.
[[nodiscard]] bool divides_work(const CaseResult& one);

/// Returns the names of the recommended cases, one for each setting, whether they pay or not.
[[nodiscard]] std::set<std::string> recommended_cases(const Answer& answer);

/// Returns the names of the cases that an answer is about: the recommended cases. A recommended
/// case that does not divide the work is replaced by the fastest case that does, with the baseline
/// of the stated gain; if there is none, by the case with the stated gain, if any.
[[nodiscard]] std::set<std::string> cases_of_answer(const Answer& answer,
                                                    const std::vector<CaseResult>& cases);

}  // namespace parbench::report
