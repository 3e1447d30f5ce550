// The table of an answer that is about several settings.
#pragma once

#include <optional>

#include "reports/model/report.h"
#include "reports/text/table.h"

namespace parbench::report {

/// Returns a row for each recommendation: what to use, whether that pays and its gain, and the
/// cases tied with it. Where the baseline is recommended, the gain is of another case, which the
/// row names. Intervals have the marks of the table of cases. Nothing for a single recommendation,
/// which the answer's text has already.
[[nodiscard]] std::optional<Table> answer_table(const Answer& answer);

}  // namespace parbench::report
