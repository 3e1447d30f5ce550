// The table of the cases of a scenario.
#pragma once

#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "reports/text/table.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// Builds the table. Columns of numbers without content are left out; the rows that the answer
/// recommends are emphasised.
[[nodiscard]] Table case_table(const ScenarioCases& group);

/// Formats the median with its interval and its marks, or the status of a case without a number.
[[nodiscard]] TableCell median_cell(const CaseResult& c);

/// Returns the footnotes of what `median_cell` marks.
[[nodiscard]] std::vector<Footnote> median_footnotes(const Cases& cases);

/// Marks a case on a throttled device.
inline constexpr std::string_view throttled_mark = "§";

}  // namespace parbench::report
