// What is said of cases that were measured on throttled devices.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Whether so many of its samples are marked that its numbers need a warning.
[[nodiscard]] bool is_throttled(const CaseResult& c);

/// Adds what throttled the case ("power cap on cuda:0") to what is known of others, each once;
/// nothing for a case that needs no warning.
void add_throttles(std::vector<std::string>& known, const CaseResult& c);

}  // namespace parbench::report
