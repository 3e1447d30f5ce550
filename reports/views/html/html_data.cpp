// Selects the data of reports that pictures need.
#include "reports/views/html/html_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "reports/io/json_list.h"
#include "reports/model/disturbances.h"
#include "reports/views/html/html_timelines.h"
#include "reports/views/html/html_writer.h"
#include "reports/views/table_parts.h"

namespace parbench::report {
namespace {

/// Rounds to six significant digits, more than a picture shows.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) && scale > 0 ? std::round(value * scale) / scale : value;
}

/// Returns the parameter's value, or its text in the table if it is not a parameter (dtype).
Json value_of(const CaseResult& c, const ParameterColumn& column, std::size_t row) {
  for (const NamedValues* values : {&c.parameters, &c.hidden_parameters}) {
    const Value* value = find_value(*values, column.name);
    if (value != nullptr) return std::visit([](const auto& v) { return Json(v); }, *value);
  }
  return column.values[row] ? Json(*column.values[row]) : Json();
}

/// Returns the rounds and seconds of all samples, as two lists.
Json samples_of(const CaseResult& c) {
  const auto seconds = [](const Sample& sample) { return short_number(sample.seconds); };
  return {{"rounds", json_list(c.samples, &Sample::round)},
          {"seconds", json_list(c.samples, seconds)}};
}

/// Returns the first round of each process; empty if a single process took all samples.
Json processes_of(const Cases& cases) {
  std::map<int, int> first_rounds;
  for (const CaseResult* c : cases) {
    for (const Sample& sample : c->samples) {
      int& first = first_rounds.try_emplace(sample.process, sample.round).first->second;
      first = std::min(first, sample.round);
    }
  }
  if (first_rounds.size() <= 1) return Json::array();
  return json_list(first_rounds, &std::map<int, int>::value_type::second);
}

/// Returns the data of a case. `unit`: unit of the scenario; the data contains the case's unit if
/// it differs.
Json case_data(const CaseResult& c, std::size_t row,
               const std::vector<const ParameterColumn*>& axes, const std::string& unit) {
  const auto value_on = [&](const ParameterColumn* axis) { return value_of(c, *axis, row); };
  Json json{{"row", row}, {"strategy", c.strategy}, {"values", json_list(axes, value_on)}};
  json["time"] = value_with_interval(c.statistics->median, c.statistics->median_interval);
  if (c.speedup) json["speedup"] = value_with_interval(c.speedup->value, c.speedup->interval);
  if (c.amount > 0) {
    json["amount"] = short_number(c.amount);
    if (c.amount_unit != unit) json["unit"] = c.amount_unit;
  }
  if (c.bound && c.efficiency > 0 && !is_bound_disproved(c)) {
    json["bound"] = short_number(c.bound->seconds);
  }
  json["samples"] = samples_of(c);
  return json;
}

std::string unit_of(const Cases& cases) {
  for (const CaseResult* c : cases) {
    if (!c->amount_unit.empty()) return c->amount_unit;
  }
  return {};
}

Json scenario_data(const ScenarioCases& group, const std::string& id) {
  const std::vector<ParameterColumn> columns = parameter_columns(group.cases);
  const Baselines baselines(group.cases);
  std::vector<const ParameterColumn*> axes;
  for (const ParameterColumn& column : columns) {
    if (!column.common) axes.push_back(&column);
  }
  const std::string unit = unit_of(group.cases);
  Json json{{"id", id}, {"name", group.scenario}, {"unit", unit}};
  json["baselines"] = baselines.strategies();
  json["axes"] = json_list(axes, &ParameterColumn::name);
  json["processes"] = processes_of(group.cases);
  Json& cases = json["cases"] = Json::array();
  for (std::size_t row = 0; row < group.cases.size(); ++row) {
    const CaseResult& c = *group.cases[row];
    if (has_number(c)) cases.push_back(case_data(c, row, axes, unit));
  }
  return json;
}

}  // namespace

Json value_with_interval(double value, const std::optional<Interval>& interval) {
  Json list = Json::array({short_number(value)});
  if (interval) {
    list.push_back(short_number(interval->low));
    list.push_back(short_number(interval->high));
  }
  return list;
}

Json short_number(double value) { return std::isfinite(value) ? Json(rounded(value)) : Json(); }

std::string report_id(std::size_t report) { return fmt::format("report-{}", report + 1); }

std::string scenario_id(std::size_t report, std::size_t scenario) {
  return fmt::format("report-{}-scenario-{}", report + 1, scenario + 1);
}

Json page_data(const std::vector<NamedReport>& reports) {
  std::vector<ScenarioCases> groups;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::size_t before = groups.size();
    std::ranges::move(by_scenario(reports[i].report), std::back_inserter(groups));
    for (std::size_t k = 0; before + k < groups.size(); ++k) ids.push_back(scenario_id(i, k));
  }
  std::size_t cases = 0;
  for (const ScenarioCases& group : groups) cases += group.cases.size();
  std::vector<Json> timelines = timelines_data(groups, timeline_room(cases));
  Json list = Json::array();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    list.push_back(scenario_data(groups[i], ids[i]));
    if (!timelines[i].is_null()) list.back()["timelines"] = std::move(timelines[i]);
  }
  return list;
}

std::string page_data_text(const std::vector<NamedReport>& reports) {
  return script_json(page_data(reports));
}

}  // namespace parbench::report
