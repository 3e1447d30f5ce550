// Collects the columns, and finds common and dependent values.
#include "reports/views/parameter_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "scenarios/plan/schedules/partition.h"

namespace parbench::report {
namespace {

/// The strategies of a table in row order, and whether each has the parameter.
using Applies = std::vector<std::pair<std::string, bool>>;

/// Names the strategies with the parameter or, if these are fewer, those without it ("all but
/// single"); empty if all have it.
std::string applies_to(const Applies& applies) {
  std::vector<std::string> having;
  std::vector<std::string> lacking;
  for (const auto& [strategy, has] : applies) (has ? having : lacking).push_back(strategy);
  if (lacking.empty()) return {};
  if (lacking.size() < having.size()) return fmt::format("all but {}", fmt::join(lacking, ", "));
  return fmt::format("{}", fmt::join(having, ", "));
}

/// Sets the common value of a column, if it has one. Requires an entry for each case in `values`.
void find_common_value(const Cases& cases, ParameterColumn& column) {
  std::optional<std::string> common;
  Applies applies;
  std::unordered_map<std::string_view, std::size_t>
      known_strategies;  // indices in `applies`, by strategy
  for (std::size_t row = 0; row < cases.size(); ++row) {
    const auto& value = column.values[row];
    const auto [known, is_new] = known_strategies.try_emplace(cases[row]->strategy, applies.size());
    if (is_new) applies.emplace_back(cases[row]->strategy, value.has_value());
    if (applies[known->second].second != value.has_value()) return;
    if (value && common && *value != *common) return;
    if (value) common = value;
  }
  column.common = std::move(common);
  column.applies_to = applies_to(applies);
}

/// Returns whether rows with equal values in `other` have equal values in `column`.
bool is_function_of(const ParameterColumn& column, const ParameterColumn& other) {
  std::map<std::optional<std::string>, std::optional<std::string>> known;
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    const auto [found, is_new] = known.try_emplace(other.values[row], column.values[row]);
    if (!is_new && found->second != column.values[row]) return false;
  }
  return true;
}

/// Returns whether all rows have a value, values differ, and some rows share one: the column does
/// not just number the rows.
bool divides_rows(const ParameterColumn& column) {
  std::map<std::optional<std::string>, std::size_t> counts;
  for (const auto& value : column.values) ++counts[value];
  return std::ranges::all_of(column.values, &std::optional<std::string>::has_value) &&
         counts.size() > 1 && counts.size() < column.values.size();
}

/// Returns whether the rows have only one value, which some rows may lack.
bool has_single_value(const ParameterColumn& column) {
  std::set<std::optional<std::string>> values(column.values.begin(), column.values.end());
  values.erase(std::nullopt);
  return values.size() == 1;
}

/// Returns whether each row with a value in `column` has one in `other`.
bool applies_within(const ParameterColumn& column, const ParameterColumn& other) {
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    if (column.values[row] && !other.values[row]) return false;
  }
  return true;
}

void find_what_follows(std::vector<ParameterColumn>& columns) {
  for (auto column = columns.begin(); column != columns.end(); ++column) {
    if (column->common) continue;
    const bool is_single = has_single_value(*column);
    const auto from = std::find_if(columns.begin(), column, [&](const ParameterColumn& other) {
      return distinguishes(other) &&
             (divides_rows(other) || (is_single && applies_within(*column, other))) &&
             is_function_of(*column, other);
    });
    if (from != column) column->follows = from->name;
  }
}

/// Returns the value of `column` in the first row in which `other` has this value.
std::optional<std::string> value_where(const ParameterColumn& column, const ParameterColumn& other,
                                       const std::optional<std::string>& value) {
  const auto row = std::ranges::find(other.values, value) - other.values.begin();
  return column.values[static_cast<std::size_t>(row)];
}

/// Returns a line for each value of `from`: "heads 4", "sequence 32" for "model gpt".
std::vector<CommonParameters> following_parameters(const std::vector<ParameterColumn>& columns,
                                                   const ParameterColumn& from) {
  std::vector<CommonParameters> lines;
  std::set<std::string> known;
  for (const auto& value : from.values) {
    if (!value || !known.insert(*value).second) continue;
    CommonParameters line{.items = {}, .of = from.name + ' ' + *value};
    for (const ParameterColumn& column : columns) {
      if (column.follows != from.name) continue;
      if (const auto own = value_where(column, from, value)) {
        line.items.push_back(column.name + ' ' + *own);
      }
    }
    if (!line.items.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

/// The rows whose stages begin at the same units.
struct CutRows {
  std::string cut;
  std::vector<std::string> rows;
};

}  // namespace

bool distinguishes(const ParameterColumn& column) {
  return !column.common && column.follows.empty();
}

std::vector<ParameterColumn> parameter_columns(const Cases& cases, std::string_view note) {
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
  for (std::size_t row = 0; row < cases.size() && !note.empty(); ++row) {
    const std::string* text = find_value(cases[row]->notes, note);
    if (text != nullptr) set(std::string(note), row, *text);
  }
  for (ParameterColumn& column : columns) find_common_value(cases, column);
  find_what_follows(columns);
  return columns;
}

std::string row_text(const std::string& strategy, const std::vector<ParameterColumn>& columns,
                     std::size_t row) {
  std::string text = strategy;
  for (const ParameterColumn& column : columns) {
    if (!distinguishes(column) || !column.values[row]) continue;
    text += fmt::format(", {} {}", column.name, *column.values[row]);
  }
  return text;
}

std::vector<std::vector<std::string>> cut_lines(const Cases& cases,
                                                const std::vector<ParameterColumn>& columns) {
  if (columns.empty() || columns.back().name != cut_note || !distinguishes(columns.back())) {
    return {};
  }
  const auto value_in = [&](std::string_view name, std::size_t row) {
    const auto column = std::ranges::find(columns, name, &ParameterColumn::name);
    return column == columns.end() ? std::nullopt : column->values[row];
  };
  std::vector<ParameterColumn> others = columns;
  others.pop_back();
  std::map<std::string, std::vector<CutRows>> sweeps;
  for (std::size_t row = 0; row < cases.size(); ++row) {
    const auto& cut = columns.back().values[row];
    if (!cut) continue;
    std::vector<CutRows>& sweep = sweeps[fmt::format("{} {} {}", std::ranges::count(*cut, '+'),
                                                     value_in("model", row).value_or(""),
                                                     value_in("partition", row).value_or(""))];
    auto found = std::ranges::find(sweep, *cut, &CutRows::cut);
    if (found == sweep.end()) found = sweep.insert(sweep.end(), {*cut, {}});
    found->rows.push_back(row_text(cases[row]->strategy, others, row));
  }
  std::vector<std::vector<std::string>> lines;
  for (auto& [key, sweep] : sweeps) {
    if (sweep.size() < 2) continue;
    std::ranges::stable_sort(sweep, std::ranges::greater(),
                             [](const CutRows& one) { return one.rows.size(); });
    std::vector<std::string>& line = lines.emplace_back();
    line.push_back("cut at " + sweep.front().cut);
    for (auto one = sweep.begin() + 1; one != sweep.end(); ++one) {
      line.push_back(fmt::format("cut at {} in {}", one->cut, fmt::join(one->rows, " and ")));
    }
  }
  return lines;
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
  for (const ParameterColumn& column : columns) {
    if (!distinguishes(column)) continue;
    std::ranges::move(following_parameters(columns, column), std::back_inserter(lines));
  }
  return lines;
}

}  // namespace parbench::report
