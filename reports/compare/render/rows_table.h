// The cases of a comparison as a table for all output formats.
#pragma once

#include <vector>

#include "reports/compare/comparison.h"
#include "reports/text/table.h"

namespace parbench::compare {

using Rows = std::vector<const Row*>;

[[nodiscard]] Rows all_rows(const Comparison& comparison);

/// Returns whether a case regressed, or failed in the newer report.
[[nodiscard]] bool is_urgent(const Row& row);

/// Returns a table of verdicts, times and changes, with the reasons of rows without a verdict and
/// the causes of throttling. Text from reports is made printable.
[[nodiscard]] report::Table rows_table(const Rows& rows);

}  // namespace parbench::compare
