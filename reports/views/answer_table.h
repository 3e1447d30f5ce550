// The table of an answer that is about several settings.
#pragma once

#include <optional>

#include "reports/model/report.h"
#include "reports/text/table.h"

namespace parbench::report {

/// Returns a row for each recommendation: what to use, its gain, what cannot be distinguished from
/// it. Nothing for a single one, which the answer's text has already.
[[nodiscard]] std::optional<Table> answer_table(const Answer& answer);

}  // namespace parbench::report
