// The table of an answer with several settings.
#pragma once

#include <optional>

#include "reports/model/report.h"
#include "reports/text/table.h"

namespace parbench::report {

/// Returns a row per recommendation: the case to use, whether it pays, its gain, and the cases tied
/// with it. If the baseline is recommended, the gain is that of another case, which the row names.
/// Intervals have the marks of the table of cases. Nothing for a single recommendation, which the
/// answer's text contains.
[[nodiscard]] std::optional<Table> answer_table(const Answer& answer);

}  // namespace parbench::report
