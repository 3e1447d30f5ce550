// The table of an answer with several settings.
#pragma once

#include <optional>

#include "reports/model/report.h"
#include "reports/text/table.h"

namespace parbench::report {

/// Returns a table with a row per recommendation: the case to use, the verdict, the gain, the cases
/// tied with the case to use, and those not ruled out. The row also names the case with the gain if
/// that is not the case to use. Intervals have the marks of the table of cases. Nothing for fewer
/// than two recommendations, because the answer's text contains a single one.
[[nodiscard]] std::optional<Table> answer_table(const Answer& answer);

}  // namespace parbench::report
