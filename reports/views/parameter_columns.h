// The parameters of a table's cases, and which of them distinguish the rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

using Cases = std::vector<const CaseResult*>;

/// A parameter of a table's cases, with a value per row; nothing in rows to which it does not
/// apply.
struct ParameterColumn {
  std::string name;
  std::vector<std::optional<std::string>> values;
  /// The only value of the column, if each strategy has it either in all of its cases or in none:
  /// then the column does not distinguish rows of one strategy. Else nothing.
  std::optional<std::string> common = {};
  /// The strategies with a common value: "pipeline", "all but single"; empty: all.
  std::string applies_to = {};
  /// Name of an earlier column whose value determines this column's: a model determines its sizes,
  /// and a layout may determine whether a row has this column's only value. Empty if there is no
  /// such column. Rows that differ in this column also differ in the earlier one.
  std::string follows = {};
};

/// The common values in one line above a table: "split 3", "partition published".
struct CommonParameters {
  std::vector<std::string> items;
  /// ParameterColumn::applies_to, or "model gpt" for values that the model determines.
  std::string of = {};
};

/// Returns the columns in the order of the cases' parameters, after dtype and, if any case requests
/// a graph, graph. The last column has the note named `note`, if given and a case has that note.
[[nodiscard]] std::vector<ParameterColumn> parameter_columns(const Cases& cases,
                                                             std::string_view note = {});

/// Returns whether the rows need the column: it is neither common nor determined by another one.
[[nodiscard]] bool distinguishes(const ParameterColumn& column);

/// Returns the text that distinguishes the case of a row: "pipeline, split 5".
[[nodiscard]] std::string row_text(const std::string& strategy,
                                   const std::vector<ParameterColumn>& columns, std::size_t row);

/// Returns the cuts of cases that have the same model, partition and number of stages, but
/// different cuts, as balanced partitions for different micro-batches may have. One line per such
/// group of cases, the most frequent cut first: "cut at layer3.0", "cut at layer2.0 in pipeline,
/// split 1". `columns`: result of `parameter_columns` with `cut_note`; there are no lines without
/// that column, or if it does not distinguish rows.
[[nodiscard]] std::vector<std::vector<std::string>> cut_lines(
    const Cases& cases, const std::vector<ParameterColumn>& columns);

/// Returns the common parameters, followed by values determined by other columns. The first line,
/// which may be empty, has the values that all strategies share.
[[nodiscard]] std::vector<CommonParameters> common_parameters(
    const std::vector<ParameterColumn>& columns);

}  // namespace parbench::report
