// The table of a scenario's cases.
#pragma once

#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "reports/text/table.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// Builds the table. Leaves out columns of numbers without content; emphasises recommended rows.
[[nodiscard]] Table case_table(const ScenarioCases& group);

/// Formats the median with interval and marks, or the status of a case without a number.
[[nodiscard]] TableCell median_cell(const CaseResult& c);

/// Returns the footnotes that explain the marks of `median_cell`.
[[nodiscard]] std::vector<Footnote> median_footnotes(const Cases& cases);

/// The mark of a case that was throttled, or from which a CPU quota withheld time.
inline constexpr std::string_view throttled_mark = "§";

}  // namespace parbench::report
