// A row for each recommendation.
#include "reports/views/answer_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "reports/units/units.h"

namespace parbench::report {
namespace {

std::string ratio_text(const Ratio& ratio) {
  if (!ratio.interval) return format_ratio(ratio.value);
  return format_ratio(ratio.value, ratio.interval->low, ratio.interval->high);
}

TableCell choice_cell(const Recommendation& one) {
  return {.text =
              one.candidates.empty() ? std::string(not_applicable) : one.candidates.front().label};
}

/// "1.95× (1.93–1.97)", or "none: 2 streams 1.01× (0.98–1.03)".
TableCell gain_cell(const Recommendation& one) {
  if (!one.gain) return {};
  const std::string gain = ratio_text(*one.gain);
  if (one.pays) return {.text = gain, .number = one.gain->value, .tone = Tone::better};
  return {.text = fmt::format("none: {} {}", one.gaining ? one.gaining->label : "", gain),
          .number = one.gain->value};
}

/// The other candidates, but the one that stands in the column of gains.
TableCell rivals_cell(const Recommendation& one) {
  std::vector<std::string_view> labels;
  for (std::size_t i = 1; i < one.candidates.size(); ++i) {
    labels.push_back(one.candidates[i].label);
  }
  constexpr std::size_t max_labels = 3;
  const std::size_t more = labels.size() > max_labels ? labels.size() - max_labels : 0;
  labels.resize(labels.size() - more);
  std::string text = fmt::format("{}", fmt::join(labels, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  return {.text = std::move(text)};
}

}  // namespace

std::optional<Table> answer_table(const Answer& answer) {
  const std::vector<Recommendation>& rows = answer.recommendations;
  if (rows.size() < 2) return std::nullopt;
  Table table;
  const auto add = [&](std::string_view title, const auto& cell) {
    TableColumn column{.title = std::string(title), .align = Align::left, .verbatim = true};
    const bool any = std::ranges::any_of(
        rows, [&](const Recommendation& row) { return !cell(row).text.empty(); });
    if (any) add_column(table, std::move(column), rows, cell);
  };
  add("setting", [](const Recommendation& one) { return TableCell{.text = one.setting}; });
  add("use", choice_cell);
  add("gain", gain_cell);
  add("not distinguishable", rivals_cell);
  add("remark", [](const Recommendation& one) { return TableCell{.text = one.remark}; });
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].pays) table.rows[row].emphasis = Emphasis::bold;
  }
  return table;
}

}  // namespace parbench::report
