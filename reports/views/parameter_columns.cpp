// Collects the columns and finds what they have in common.
#include "reports/views/parameter_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "reports/units/units.h"

namespace parbench::report {
namespace {

/// The strategies of a table in the order of its rows, and whether each has a parameter.
using Applies = std::vector<std::pair<std::string, bool>>;

/// The shorter of naming those that have the parameter and those that lack it.
std::string applies_to(const Applies& applies) {
  std::vector<std::string> having;
  std::vector<std::string> lacking;
  for (const auto& [strategy, has] : applies) (has ? having : lacking).push_back(strategy);
  if (lacking.empty()) return {};
  if (lacking.size() < having.size()) return fmt::format("all but {}", fmt::join(lacking, ", "));
  return fmt::format("{}", fmt::join(having, ", "));
}

/// `column.values` has an entry for each case.
void find_common_value(const Cases& cases, ParameterColumn& column) {
  std::optional<std::string> common;
  Applies applies;
  std::unordered_map<std::string_view, std::size_t> places;  // in `applies`, by strategy
  for (std::size_t row = 0; row < cases.size(); ++row) {
    const auto& value = column.values[row];
    const auto [place, is_new] = places.try_emplace(cases[row]->strategy, applies.size());
    if (is_new) applies.emplace_back(cases[row]->strategy, value.has_value());
    if (applies[place->second].second != value.has_value()) return;
    if (value && common && *value != *common) return;
    if (value) common = value;
  }
  column.common = std::move(common);
  column.applies_to = applies_to(applies);
}

}  // namespace

std::vector<ParameterColumn> parameter_columns(const Cases& cases) {
  std::vector<ParameterColumn> columns;
  const auto set = [&](const std::string& name, std::size_t row, std::string value) {
    auto column = std::find_if(columns.begin(), columns.end(),
                               [&](const ParameterColumn& c) { return c.name == name; });
    if (column == columns.end()) {
      columns.push_back({name, {}});
      columns.back().values.resize(cases.size());
      column = columns.end() - 1;
    }
    column->values[row] = std::move(value);
  };
  const bool any_graph = std::ranges::any_of(cases, &CaseResult::graph);
  for (std::size_t row = 0; row < cases.size(); ++row) {
    if (!cases[row]->dtype.empty()) set("dtype", row, cases[row]->dtype);
    if (any_graph) set("graph", row, cases[row]->graph ? "true" : "false");
    for (const auto& [name, value] : cases[row]->parameters) set(name, row, value_text(value));
    for (const auto& [name, value] : cases[row]->hidden_parameters)
      set(name, row, value_text(value));
  }
  for (ParameterColumn& column : columns) find_common_value(cases, column);
  return columns;
}

std::string row_text(const std::string& strategy, const std::vector<ParameterColumn>& columns,
                     std::size_t row) {
  std::string text = strategy;
  for (const ParameterColumn& column : columns) {
    if (column.common || !column.values[row]) continue;
    text += fmt::format(", {} {}", column.name, *column.values[row]);
  }
  return text;
}

std::vector<CommonParameters> common_parameters(const std::vector<ParameterColumn>& columns) {
  std::vector<CommonParameters> lines(1);
  for (const ParameterColumn& column : columns) {
    if (!column.common) continue;
    auto line = std::ranges::find(lines, column.applies_to, &CommonParameters::of);
    if (line == lines.end()) line = lines.insert(lines.end(), {{}, column.applies_to});
    const bool named = column.name != "dtype";
    line->items.push_back(named ? column.name + ' ' + *column.common : *column.common);
  }
  return lines;
}

}  // namespace parbench::report
