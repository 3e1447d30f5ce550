// Makes the text of a report safe for a terminal.
#pragma once

#include "reports/model/report.h"

namespace parbench::report {

/// Returns the report with all text made `printable`: reports are untrusted, and their text must
/// not reach the terminal as an escape sequence or break a line of a table. Line breaks stay in
/// prose (errors, questions, answers, warnings, findings, details).
[[nodiscard]] Report printable(const Report& report);

}  // namespace parbench::report
