// Remarks on cases that were measured on throttled devices.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Returns whether so many samples of the case are marked that its numbers need a warning.
[[nodiscard]] bool is_throttled(const CaseResult& c);

/// Adds the reasons that throttled the case ("power cap on cuda:0") to a list, each once;
/// nothing for a case that needs no warning.
void add_throttles(std::vector<std::string>& known, const CaseResult& c);

}  // namespace parbench::report
