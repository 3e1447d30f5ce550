// The table of the cases of a scenario.
#pragma once

#include <string_view>

#include "reports/model/report.h"
#include "reports/text/table.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// Builds the table. Columns of numbers without content are left out; the rows that the answer
/// recommends are emphasised.
[[nodiscard]] Table case_table(const ScenarioCases& group);

/// Marks a case on a throttled device.
inline constexpr std::string_view throttled_mark = "§";

/// Returns whether a bound is disproved by the time that was measured.
[[nodiscard]] bool is_no_bound(const CaseResult& c);

}  // namespace parbench::report
