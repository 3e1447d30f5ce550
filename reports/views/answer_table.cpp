// Builds a row for each recommendation.
#include "reports/views/answer_table.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/units/units.h"
#include "reports/views/table_parts.h"

namespace parbench::report {
namespace {

// Priorities of columns in a table that is too wide. The recommended case and its gain are never
// left out.
constexpr Narrow of_row{.is_heading = true};
constexpr Narrow open_rank{1};
constexpr Narrow remark_rank{2};
constexpr Narrow ties_rank{Narrow::important_rank};

bool is_undecided(const Recommendation& one) { return payoff_of(one) == Payoff::undecided; }

TableCell use_cell(const Recommendation& one) {
  const bool is_known = !one.candidates.empty() && !is_undecided(one);
  return {.text = is_known ? one.candidates.front().label : std::string(not_applicable)};
}

TableCell verdict_cell(const Recommendation& one) {
  if (!one.gain) return {};
  return {.text = std::string(to_string(payoff_of(one)))};
}

/// Returns the case with the gain, unless `use_cell` names it.
TableCell gaining_cell(const Recommendation& one) {
  if (!one.gaining || one.candidates.empty()) return {};
  const bool is_used = one.gaining->name == one.candidates.front().name;
  if (is_used && !is_undecided(one)) return {};
  return {.text = one.gaining->label};
}

TableCell gain_cell(const Recommendation& one) {
  if (!one.gain) return {};
  TableCell cell = ratio_cell(*one.gain);
  if (one.pays) cell.tone = Tone::better;
  return cell;
}

/// Returns the tied cases; empty if it is undecided which case pays, because no case is recommended
/// then.
TableCell ties_cell(const Recommendation& one) {
  if (is_undecided(one)) return {};
  std::vector<std::string> labels;
  for (const LabelledCase& tied : one.tied) labels.push_back(tied.label);
  return {.text = format_list(labels)};
}

/// Returns the slower cases that the samples do not exclude as the fastest.
TableCell open_cell(const Recommendation& one) {
  if (is_undecided(one)) return {};
  std::vector<std::string> labels;
  for (std::size_t i = 1 + one.tied.size(); i < one.candidates.size(); ++i) {
    labels.push_back(one.candidates[i].label);
  }
  return {.text = format_list(labels)};
}

}  // namespace

std::optional<Table> answer_table(const Answer& answer) {
  const std::vector<Recommendation>& rows = answer.recommendations;
  if (rows.size() < 2) return std::nullopt;
  Table table;
  const auto add = [&](TableColumn column, const auto& cell) {
    const bool any = std::ranges::any_of(
        rows, [&](const Recommendation& row) { return !cell(row).text.empty(); });
    if (any) add_column(table, std::move(column), rows, cell);
  };
  const auto add_labels = [&](std::string_view title, Narrow narrow, const auto& cell) {
    add({.title = std::string(title), .align = Align::left, .verbatim = true, .narrow = narrow},
        cell);
  };
  add_labels("setting", of_row, [](const auto& one) { return TableCell{.text = one.setting}; });
  add_labels("use", of_row, use_cell);
  add({.title = "verdict", .align = Align::left}, verdict_cell);
  add_labels("gain of", of_row, gaining_cell);
  add({.title = "gain", .range_title = "(95% CI)"}, gain_cell);
  add_labels("tied with", ties_rank, ties_cell);
  add_labels("not ruled out", open_rank, open_cell);
  add_labels("remark", remark_rank, [](const auto& one) { return TableCell{.text = one.remark}; });
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].pays) table.rows[row].emphasis = Emphasis::bold;
  }
  return table;
}

}  // namespace parbench::report
