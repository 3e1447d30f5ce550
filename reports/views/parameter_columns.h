// The parameters of a table's cases: which of them distinguish the rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

using Cases = std::vector<const CaseResult*>;

/// One parameter over the cases of a table; nothing where it does not apply.
struct ParameterColumn {
  std::string name;
  std::vector<std::optional<std::string>> values;
  /// The value of all cases of every strategy that has the parameter: it distinguishes no rows that
  /// the strategy does not. Nothing where values differ.
  std::optional<std::string> common = {};
  /// To which strategies a common value applies: "pipeline", "all but single"; empty: to all.
  std::string applies_to = {};
  /// The column before it that its values follow from, as the sizes of a model do from the model,
  /// or its single value from a layout with stages; empty for none. Rows that differ in it differ
  /// in that column, too.
  std::string follows = {};
};

/// The common values of one line above a table: "split 3", "partition published".
struct CommonParameters {
  std::vector<std::string> items;
  std::string of = {};  // ParameterColumn::applies_to, or "model gpt" of what follows from that
};

/// In the order in which the cases name them, dtype first, then graph where any case is captured.
/// With a name of notes, the last column is what that note says of each case.
[[nodiscard]] std::vector<ParameterColumn> parameter_columns(const Cases& cases,
                                                             std::string_view note = {});

/// Whether the rows need the column: it is neither common to all, nor follows from another one.
[[nodiscard]] bool distinguishes(const ParameterColumn& column);

/// "pipeline, split 5": what distinguishes the case in a row of the table from the others.
[[nodiscard]] std::string row_text(const std::string& strategy,
                                   const std::vector<ParameterColumn>& columns, std::size_t row);

/// Returns where the stages of cases begin that have the same number of stages of one model and
/// differ in it all the same, as balanced partitions of different micro-batches may: a line for
/// each such sweep, the most frequent cut first, "cut at layer3.0", "layer2.0: pipeline, split 1".
/// `columns`: those of the cases with `cut_note`; without that column, no lines.
[[nodiscard]] std::vector<std::vector<std::string>> cut_lines(
    const Cases& cases, const std::vector<ParameterColumn>& columns);

/// Returns the common parameters, those of all strategies first, with or without items; behind them
/// what follows from the values of other columns.
[[nodiscard]] std::vector<CommonParameters> common_parameters(
    const std::vector<ParameterColumn>& columns);

}  // namespace parbench::report
