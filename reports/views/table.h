// Formats a report as text for a terminal.
#pragma once

#include <string>

#include "reports/model/report.h"
#include "reports/text/text.h"

namespace parbench::report {

/// Returns the machine; for each scenario its question, a table of its cases, the reasons of cases
/// without a number, its answer and its findings; then warnings, the number of measured cases and
/// the time. UTF-8, with a line break after each line. Depends on the arguments only. Contains no
/// control characters except line breaks and those of the style.
[[nodiscard]] std::string to_table(const Report& report, const TextStyle& style = {});

}  // namespace parbench::report
