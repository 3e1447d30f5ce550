#include "bench/run/case_expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"

namespace parbench {
namespace {

/// An axis with the values to sweep; without values, the scenario chooses one.
struct Range {
  const Axis* axis = nullptr;
  std::vector<Value> values;
  bool from_user = false;
};

/// One combination of values, and which of them the user gave.
struct Combination {
  Parameters parameters;
  Parameters hidden;
  std::vector<Value> user_values;   // values that the user gave, in the order of the axes
  std::vector<Value> named_values;  // values for which `is_named` is true
  std::vector<std::string> given;   // names of the axes with values from the user
};

bool has_strategy(const Scenario& scenario, std::string_view name) {
  return std::ranges::find(scenario.strategies(), name, &Strategy::name) !=
         scenario.strategies().end();
}

/// Returns whether a value without cases is reported: the user gave it, or it follows from the
/// number of devices.
bool is_named(const Range& range) { return range.from_user || range.axis->by_devices; }

void append(Combination& combination, const Range& range, const Value& value) {
  (range.axis->identity ? combination.parameters : combination.hidden).set(range.axis->name, value);
  if (is_named(range)) combination.named_values.push_back(value);
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

/// Cases in order, without duplicates.
class CaseList {
 public:
  /// Ignores a case that the list has already. Throws UsageError if a case with other parameters
  /// has the same name, because names identify cases.
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

/// A value that the user gave, with the index of its axis among the given axes.
using GivenValue = std::pair<std::size_t, Value>;

/// The user's values of a combination without a case. They are an error if the strategy has no
/// case, or if one of the values is in no case of the strategy.
struct RefusedValues {
  std::vector<Value> values;
  std::string message;
};

/// The named values of combinations without a case, with the reason.
using ReasonsByValues = std::map<std::vector<Value>, std::string>;

/// Returns whether an axis does not matter for the combinations in `without`: replacing its value
/// in any of them by another one of `values` gives a combination that is in `without`, too.
/// `axis_index`: index of the axis among the named values.
bool is_irrelevant(const ReasonsByValues& without, std::size_t axis_index,
                   const std::vector<Value>& values) {
  return std::ranges::all_of(without, [&](const auto& one) {
    return std::ranges::all_of(values, [&](const Value& value) {
      std::vector<Value> other = one.first;
      other[axis_index] = value;
      return without.contains(other);
    });
  });
}

/// Returns the combinations without a case: the strategy with the values that rule it out
/// ("pipeline with batch 1"), and the reason. Omits values of irrelevant axes, and then duplicates.
std::vector<LeftOut> described(const std::string& strategy, const std::vector<Range>& ranges,
                               const ReasonsByValues& without) {
  std::vector<LeftOut> list;
  for (const auto& [values, reason] : without) {
    std::string text;
    std::size_t axis_index = 0;
    for (const Range& range : ranges) {
      if (!is_named(range)) continue;
      if (!is_irrelevant(without, axis_index, range.values)) {
        text += fmt::format("{} {} {}", text.empty() ? " with" : " and", range.axis->name,
                            to_string(values[axis_index]));
      }
      ++axis_index;
    }
    const auto is_known = [&](const LeftOut& one) { return one.what == strategy + text; };
    if (std::ranges::none_of(list, is_known)) list.push_back({strategy + text, reason});
  }
  return list;
}

/// Returns whether a case has all parameters of a case of a report, with the same values and types.
bool has_parameters_of(const CaseSpec& found, const CaseSpec& known) {
  return std::ranges::all_of(known.parameters, [&](const Parameter& parameter) {
    const Value* value = found.parameters.find(parameter.name);
    return value != nullptr && *value == parameter.value;
  });
}

/// Makes the case's name show the parameters that its name in a report shows.
void state_as_in(const std::string& name, CaseSpec& spec) {
  std::vector<std::string> shown;
  for (const Parameter& one : spec.parameters) {
    if (one.implied && name.find(fmt::format("/{}:", one.name)) != std::string::npos) {
      shown.push_back(one.name);
    }
  }
  for (const std::string& parameter : shown) spec.parameters.state(parameter);
}

/// Makes the cases of one scenario in a run on given devices.
class Expander {
 public:
  Expander(const RunOptions& options, const Scenario& scenario, const Scenario::Request& devices)
      : options_(options), scenario_(scenario), devices_(devices) {}

  [[nodiscard]] Expansion operator()() const {
    CaseList cases;
    if (!options_.cases.empty()) {
      for (const RerunCase& known : options_.cases) {
        if (known.spec.scenario == scenario_.name()) cases.add(case_again(known));
      }
      return {cases.take(), {}};
    }
    std::vector<LeftOut> left_out;
    for (const Strategy& strategy : scenario_.strategies()) {
      if (!options_.chooses(strategy.name)) continue;
      std::vector<LeftOut> of_strategy = expand_strategy(strategy.name, cases);
      // Many runs have no device with all cores (GPUs, ranks, shared cores). The guide explains
      // that, so the run does not report it.
      if (strategy.name == all_cores && options_.strategies.empty()) continue;
      std::ranges::move(of_strategy, std::back_inserter(left_out));
    }
    std::vector<CaseSpec> all = cases.take();
    check_axes_take_part(all);
    return {std::move(all), std::move(left_out)};
  }

 private:
  [[nodiscard]] Range range_of(const Axis& axis) const {
    const auto given = options_.axes.find(axis.name);
    if (given != options_.axes.end()) return {&axis, given->second, true};
    if (axis.by_devices) return {&axis, axis.by_devices(devices_.device_count), false};
    return {&axis, options_.preset == Preset::published ? axis.published : axis.quick, false};
  }

  [[nodiscard]] std::vector<Range> ranges_of(const std::string& strategy) const {
    std::vector<Range> ranges;
    for (const Axis& axis : scenario_.axes()) {
      if (axis.applies_to(strategy)) ranges.push_back(range_of(axis));
    }
    return ranges;
  }

  [[nodiscard]] Scenario::Request request_for(CaseSpec spec) const {
    Scenario::Request request = devices_;
    request.spec = std::move(spec);
    request.preset = options_.preset;
    return request;
  }

  [[nodiscard]] Scenario::Request request_of(const std::string& strategy,
                                             const Combination& combination) const {
    Scenario::Request request = request_for({.scenario = std::string(scenario_.name()),
                                             .strategy = strategy,
                                             .parameters = combination.parameters,
                                             .hidden = combination.hidden,
                                             .dtype = options_.format.dtype,
                                             .math = options_.format.math,
                                             .graph = options_.graph});
    request.given = combination.given;
    if (!options_.strategies.empty()) request.given.emplace_back("strategy");
    // A scenario may refuse devices that were given for it alone.
    if (!options_.devices.empty() && options_.scenarios.size() == 1) {
      request.given.emplace_back("devices");
    }
    return request;
  }

  /// Adds the cases of a strategy. Returns the combinations left out.
  std::vector<LeftOut> expand_strategy(const std::string& strategy, CaseList& cases) const {
    const std::vector<Range> ranges = ranges_of(strategy);
    std::set<GivenValue> took_part;  // values that are part of a case
    std::vector<std::vector<Value>> values_of_cases;
    std::vector<RefusedValues> refused;
    ReasonsByValues without;
    for (const Combination& combination : combinations(ranges)) {
      const std::vector<Value>& values = combination.user_values;
      const Scenario::Request request = request_of(strategy, combination);
      Resolution resolution = resolve_case(scenario_, request);
      if (const auto* const obstacle = std::get_if<Obstacle>(&resolution)) {
        without.try_emplace(combination.named_values, obstacle->message);
        if (was_asked_for(request, *obstacle)) refused.push_back({values, obstacle->message});
        continue;
      }
      CaseSpec& spec = std::get<CaseSpec>(resolution);
      for (const Range& range : ranges) {
        if (range.values.size() > 1) spec.parameters.state(range.axis->name);
      }
      cases.add(std::move(spec));
      values_of_cases.push_back(combination.named_values);
      for (std::size_t i = 0; i < values.size(); ++i) took_part.emplace(i, values[i]);
    }
    for (const auto& [values, message] : refused) {
      if (values_of_cases.empty()) throw UsageError(message);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!took_part.contains({i, values[i]})) throw UsageError(message);
      }
    }
    for (const std::vector<Value>& values : values_of_cases) without.erase(values);
    return described(strategy, ranges, without);
  }

  /// Throws UsageError if an axis that the user gave has no effect, because other values exclude it
  /// from all cases. Does nothing for several scenarios: the axis may be meant for another
  /// scenario.
  void check_axes_take_part(const std::vector<CaseSpec>& cases) const {
    if (options_.scenarios.size() > 1 || cases.empty()) return;
    for (const Axis& axis : scenario_.axes()) {
      if (!axis.identity || !options_.axes.contains(axis.name)) continue;
      const std::string& parameter = axis.sets.empty() ? axis.name : axis.sets;
      const bool takes_part = std::ranges::any_of(
          cases, [&](const CaseSpec& spec) { return spec.parameters.find(parameter) != nullptr; });
      if (takes_part) continue;
      throw UsageError(
          fmt::format("--{} applies to none of the {} that the other flags select ({}); leave it "
                      "out, or select cases that have it",
                      axis.name, format_count(cases.size(), "case"), axis.description));
    }
  }

  /// Returns the request for a case of a report, with its values of the axes. An axis that the
  /// report lacks, and an axis from the user that is not part of names, get the first value of this
  /// run.
  [[nodiscard]] Scenario::Request request_again(const CaseSpec& known) const {
    Scenario::Request request = request_for(known);
    request.spec.parameters = {};
    request.spec.hidden = {};
    for (const Axis& axis : scenario_.axes()) {
      if (!axis.applies_to(known.strategy)) continue;
      const Range range = range_of(axis);
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

  [[nodiscard]] CaseSpec case_again(const RerunCase& known) const {
    if (!has_strategy(scenario_, known.spec.strategy)) {
      throw UsageError(
          fmt::format("case '{}' of the report does not exist: scenario {} has no such strategy in "
                      "this version",
                      known.name, scenario_.name()));
    }
    auto found = requested_case(scenario_, request_again(known.spec));
    if (found) state_as_in(known.name, *found);
    if (!found || found->name() != known.name || !has_parameters_of(*found, known.spec)) {
      throw UsageError(
          fmt::format("case '{}' of the report cannot be run again with {} device{}: it would be "
                      "'{}'\nchoose other devices with --devices",
                      known.name, devices_.device_count, devices_.device_count == 1 ? "" : "s",
                      found ? found->name() : "no case"));
    }
    return *found;
  }

  const RunOptions& options_;
  const Scenario& scenario_;
  const Scenario::Request& devices_;
};

}  // namespace

Scenario::Request request_with(const std::vector<std::unique_ptr<Device>>& devices) {
  const auto unlike_first = std::ranges::find_if(
      devices, [&](const auto& device) { return !alike(device->info(), devices.front()->info()); });
  const bool only_last = unlike_first != devices.end() && unlike_first + 1 == devices.end();
  const bool over_ranks =
      std::ranges::any_of(devices, [](const auto& device) { return device->info().is_remote; });
  const bool are_cpus =
      std::ranges::all_of(devices, [](const auto& device) { return device->info().host_memory; });
  return {.device_count = static_cast<int>(devices.size()),
          .devices_alike = unlike_first == devices.end(),
          .devices_over_ranks = over_ranks,
          .devices_are_cpus = are_cpus,
          .last_serves = only_last && devices.back()->info().host_memory};
}

Expansion expand(const RunOptions& options, const Scenario& scenario,
                 const Scenario::Request& devices) {
  return Expander(options, scenario, devices)();
}

}  // namespace parbench
