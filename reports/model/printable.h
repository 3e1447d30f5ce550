// A report whose text can be shown on a terminal.
#pragma once

#include "reports/model/report.h"

namespace parbench::report {

/// With all text made `printable`: a report may come from anywhere, and what it says must neither
/// reach the terminal as an escape sequence nor end a line of a table. Line breaks stay in prose
/// (errors, questions, answers, details).
[[nodiscard]] Report printable(const Report& report);

}  // namespace parbench::report
