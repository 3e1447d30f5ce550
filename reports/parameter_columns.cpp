// Collects the columns and finds what they have in common.
#include "reports/parameter_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "reports/units.h"

namespace parbench::report {
namespace {

std::string text_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return format_number(*real);
  return std::get<std::string>(value);
}

/// `values` has an entry for each case.
std::optional<std::string> common_value(const Cases& cases,
                                        const std::vector<std::optional<std::string>>& values) {
  std::optional<std::string> common;
  std::map<std::string, bool> applies;  // by strategy
  for (std::size_t row = 0; row < cases.size(); ++row) {
    const auto& value = values[row];
    const auto [strategy, is_new] = applies.emplace(cases[row]->strategy, value.has_value());
    if (strategy->second != value.has_value()) return std::nullopt;
    if (value && common && *value != *common) return std::nullopt;
    if (value) common = value;
  }
  return common;
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
  for (std::size_t row = 0; row < cases.size(); ++row) {
    set("dtype", row, cases[row]->dtype);
    for (const auto& [name, value] : cases[row]->parameters) set(name, row, text_of(value));
    for (const auto& [name, value] : cases[row]->hidden_parameters) set(name, row, text_of(value));
  }
  for (ParameterColumn& column : columns) column.common = common_value(cases, column.values);
  return columns;
}

}  // namespace parbench::report
