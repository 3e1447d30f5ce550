// Expansion of axes into cases.
#include "bench/run/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "kernels/base/error.h"

namespace parbench {
namespace {

/// An axis with the values to sweep; with an empty list the scenario decides.
struct Range {
  const Axis* axis = nullptr;
  std::vector<Value> values;
  bool from_user = false;
};

/// One choice of values, and which of them the user gave.
struct Combination {
  Parameters parameters;
  Parameters hidden;
  std::vector<Value> user_values;  // to recognise combinations of the same user values
  std::vector<std::string> given;  // names of the axes whose values the user gave
};

bool has_strategy(const Scenario& scenario, std::string_view name) {
  return std::ranges::find(scenario.strategies(), name, &Strategy::name) !=
         scenario.strategies().end();
}

Range range_of(const RunOptions& options, const Axis& axis) {
  const auto given = options.axes.find(axis.name);
  if (given != options.axes.end()) return {&axis, given->second, true};
  return {&axis, options.preset == Preset::published ? axis.published : axis.quick, false};
}

void append(Combination& combination, const Range& range, const Value& value) {
  (range.axis->identity ? combination.parameters : combination.hidden).set(range.axis->name, value);
  if (!range.from_user) return;
  combination.given.push_back(range.axis->name);
  combination.user_values.push_back(value);
}

std::vector<Combination> combinations(const std::vector<Range>& ranges) {
  std::vector<Combination> result{Combination{}};
  for (const Range& range : ranges) {
    if (range.values.empty()) continue;
    std::vector<Combination> extended;
    extended.reserve(result.size() * range.values.size());
    for (const Combination& combination : result) {
      for (const Value& value : range.values) {
        append(extended.emplace_back(combination), range, value);
      }
    }
    result = std::move(extended);
  }
  return result;
}

/// Cases in order, each name once.
class CaseList {
 public:
  /// Throws UsageError for another case of a name that is taken: names are how cases are found.
  void add(CaseSpec spec) {
    const auto [known, is_new] = places_.try_emplace(spec.name(), cases_.size());
    if (is_new) {
      cases_.push_back(std::move(spec));
    } else if (cases_[known->second].parameters != spec.parameters) {
      throw UsageError(fmt::format("two cases have the name {}\ngive their files different names",
                                   known->first));
    }
  }
  [[nodiscard]] std::vector<CaseSpec> take() { return std::move(cases_); }

 private:
  std::vector<CaseSpec> cases_;
  std::map<std::string, std::size_t> places_;
};

Scenario::Request request_for(const RunOptions& options, CaseSpec spec, const DeviceSet& devices) {
  Scenario::Request request;
  request.spec = std::move(spec);
  request.device_count = devices.count;
  request.devices_alike = devices.alike;
  request.preset = options.preset;
  return request;
}

void expand_strategy(const RunOptions& options, const Scenario& scenario,
                     const std::string& strategy, const DeviceSet& devices, CaseList& cases) {
  std::vector<Range> ranges;
  for (const Axis& axis : scenario.axes()) {
    if (axis.applies_to(strategy)) ranges.push_back(range_of(options, axis));
  }
  std::map<std::vector<Value>, bool> took_part;  // the user's values: in any case at all?
  std::map<std::vector<Value>, UsageError> refused;
  for (Combination& combination : combinations(ranges)) {
    bool& used = took_part[combination.user_values];
    Scenario::Request request = request_for(options,
                                            {.scenario = std::string(scenario.name()),
                                             .strategy = strategy,
                                             .parameters = std::move(combination.parameters),
                                             .hidden = std::move(combination.hidden),
                                             .dtype = options.format.dtype,
                                             .math = options.format.math,
                                             .graph = options.graph},
                                            devices);
    request.given = std::move(combination.given);
    if (!options.strategies.empty()) request.given.emplace_back("strategy");
    try {
      if (auto spec = scenario.resolve(request)) {
        cases.add(std::move(*spec));
        used = true;
      }
    } catch (const UsageError& error) {
      refused.try_emplace(combination.user_values, error);
    }
  }
  for (const auto& [values, error] : refused) {
    if (!took_part[values]) throw UsageError(error);
  }
}

/// Returns the request for a case of a report: the values that it has of the axes. It may lack an
/// axis that is newer than the report, which is then at the first value of the preset.
Scenario::Request request_again(const RunOptions& options, const Scenario& scenario,
                                const CaseSpec& known, const DeviceSet& devices) {
  Scenario::Request request = request_for(options, known, devices);
  request.spec.parameters = {};
  request.spec.hidden = {};
  for (const Axis& axis : scenario.axes()) {
    if (!axis.applies_to(known.strategy)) continue;
    const Range range = range_of(options, axis);
    const Value* value = (axis.identity ? known.parameters : known.hidden).find(axis.name);
    if (value != nullptr && axis.identity) request.given.push_back(axis.name);
    if ((value == nullptr || range.from_user) && !range.values.empty()) {
      value = &range.values.front();
    }
    if (value == nullptr) continue;
    (axis.identity ? request.spec.parameters : request.spec.hidden).set(axis.name, *value);
  }
  return request;
}

/// Whether a case has all parameters of one of a report, with their types.
bool has_parameters_of(const CaseSpec& found, const CaseSpec& known) {
  return std::ranges::all_of(known.parameters, [&](const Parameter& parameter) {
    const Value* value = found.parameters.find(parameter.name);
    return value != nullptr && *value == parameter.value;
  });
}

CaseSpec case_again(const RunOptions& options, const Scenario& scenario, const RerunCase& known,
                    const DeviceSet& devices) {
  if (!has_strategy(scenario, known.spec.strategy)) {
    throw UsageError(
        fmt::format("case '{}' of the report does not exist: scenario {} has no such strategy in "
                    "this version",
                    known.name, scenario.name()));
  }
  const auto found = scenario.resolve(request_again(options, scenario, known.spec, devices));
  if (!found || found->name() != known.name || !has_parameters_of(*found, known.spec)) {
    throw UsageError(
        fmt::format("case '{}' of the report cannot be run again with {} device{}: it would be "
                    "'{}'\nchoose other devices with --devices",
                    known.name, devices.count, devices.count == 1 ? "" : "s",
                    found ? found->name() : "no case"));
  }
  return *found;
}

}  // namespace

DeviceSet set_of(const std::vector<std::unique_ptr<Device>>& devices) {
  const bool all_alike = std::ranges::all_of(
      devices, [&](const auto& device) { return alike(device->info(), devices.front()->info()); });
  return {.count = static_cast<int>(devices.size()), .alike = all_alike};
}

std::vector<CaseSpec> expand(const RunOptions& options, const Scenario& scenario,
                             const DeviceSet& devices) {
  CaseList cases;
  if (!options.cases.empty()) {
    for (const RerunCase& known : options.cases) {
      if (known.spec.scenario == scenario.name()) {
        cases.add(case_again(options, scenario, known, devices));
      }
    }
    return cases.take();
  }
  for (const Strategy& strategy : scenario.strategies()) {
    if (options.chooses(strategy.name)) {
      expand_strategy(options, scenario, strategy.name, devices, cases);
    }
  }
  return cases.take();
}

std::vector<std::string> strategies_left_out(const RunOptions& options, const Scenario& scenario,
                                             const std::vector<CaseSpec>& cases) {
  std::vector<std::string> names;
  if (!options.strategies.empty() || !options.cases.empty()) return names;
  for (const Strategy& strategy : scenario.strategies()) {
    if (std::ranges::find(cases, strategy.name, &CaseSpec::strategy) == cases.end()) {
      names.push_back(strategy.name);
    }
  }
  return names;
}

}  // namespace parbench
