// Expansion of axes into cases.
#include "bench/run/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "scenarios/framework/all_cores.h"

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
  std::vector<Value> user_values;   // to recognise combinations of the same user values
  std::vector<Value> named_values;  // the same, and values that follow from the number of devices
  std::vector<std::string> given;   // names of the axes whose values the user gave
};

bool has_strategy(const Scenario& scenario, std::string_view name) {
  return std::ranges::find(scenario.strategies(), name, &Strategy::name) !=
         scenario.strategies().end();
}

Range range_of(const RunOptions& options, const Axis& axis, const DeviceSet& devices) {
  const auto given = options.axes.find(axis.name);
  if (given != options.axes.end()) return {&axis, given->second, true};
  if (axis.by_devices) return {&axis, axis.by_devices(devices.count), false};
  return {&axis, options.preset == Preset::published ? axis.published : axis.quick, false};
}

/// Whether a run without a value says so: the user has given it, or asks for all by the number of
/// devices.
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

/// Whether the user gave devices for one scenario, which then has to take them all.
bool has_devices_of_its_own(const RunOptions& options) {
  return !options.devices.empty() && options.scenarios.size() == 1;
}

Scenario::Request request_for(const RunOptions& options, CaseSpec spec, const DeviceSet& devices) {
  Scenario::Request request;
  request.spec = std::move(spec);
  request.device_count = devices.count;
  request.devices_alike = devices.alike;
  request.devices_over_ranks = devices.over_ranks;
  request.ranks_share_memory = devices.ranks_share_memory;
  request.more_devices = devices.more;
  request.last_serves = devices.last_serves;
  request.devices_are_cpus = devices.are_cpus;
  request.has_all_cores = devices.has_all_cores;
  request.preset = options.preset;
  return request;
}

Scenario::Request request_of(const RunOptions& options, const Scenario& scenario,
                             const std::string& strategy, const DeviceSet& devices,
                             const Combination& combination) {
  Scenario::Request request = request_for(options,
                                          {.scenario = std::string(scenario.name()),
                                           .strategy = strategy,
                                           .parameters = combination.parameters,
                                           .hidden = combination.hidden,
                                           .dtype = options.format.dtype,
                                           .math = options.format.math,
                                           .graph = options.graph},
                                          devices);
  request.given = combination.given;
  if (!options.strategies.empty()) request.given.emplace_back("strategy");
  if (has_devices_of_its_own(options)) request.given.emplace_back("devices");
  return request;
}

std::vector<Range> ranges_of(const RunOptions& options, const Scenario& scenario,
                             const std::string& strategy, const DeviceSet& devices) {
  std::vector<Range> ranges;
  for (const Axis& axis : scenario.axes()) {
    if (axis.applies_to(strategy)) ranges.push_back(range_of(options, axis, devices));
  }
  return ranges;
}

/// A value of an axis that the user gave: the axis' place among those, and the value.
using GivenValue = std::pair<std::size_t, Value>;

/// A combination of the user's values that was refused.
struct RefusedValues {
  std::vector<Value> values;
  UsageError error;
};

void expand_strategy(const RunOptions& options, const Scenario& scenario,
                     const std::string& strategy, const DeviceSet& devices, CaseList& cases) {
  const std::vector<Range> ranges = ranges_of(options, scenario, strategy, devices);
  std::set<GivenValue> took_part;  // in any case at all
  bool has_case = false;
  std::vector<RefusedValues> refused;
  for (const Combination& combination : combinations(ranges)) {
    const std::vector<Value>& values = combination.user_values;
    try {
      auto spec =
          resolve_case(scenario, request_of(options, scenario, strategy, devices, combination));
      if (!spec) continue;
      for (const Range& range : ranges) {
        if (range.values.size() > 1) spec->parameters.state(range.axis->name);
      }
      cases.add(std::move(*spec));
      has_case = true;
      for (std::size_t i = 0; i < values.size(); ++i) took_part.emplace(i, values[i]);
    } catch (const UsageError& error) {
      refused.push_back({values, error});
    }
  }
  for (const auto& [values, error] : refused) {
    if (!has_case) throw UsageError(error);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!took_part.contains({i, values[i]})) throw UsageError(error);
    }
  }
}

bool has_parameter(const CaseSpec& spec, const std::string& name) {
  return spec.parameters.find(name) != nullptr;
}

/// Throws for an axis of the user's that no case has, because values of others leave it out: it
/// would change nothing. With several scenarios it may be meant for another one.
void check_axes_take_part(const RunOptions& options, const Scenario& scenario,
                          const std::vector<CaseSpec>& cases) {
  if (options.scenarios.size() > 1 || cases.empty()) return;
  for (const Axis& axis : scenario.axes()) {
    if (!axis.identity || !options.axes.contains(axis.name)) continue;
    const std::string& parameter = axis.sets.empty() ? axis.name : axis.sets;
    const bool takes_part = std::ranges::any_of(
        cases, [&](const CaseSpec& spec) { return has_parameter(spec, parameter); });
    if (takes_part) continue;
    throw UsageError(
        fmt::format("--{}: it changes none of the {} that the other flags ask for ({}); leave it "
                    "out, or ask for cases that have it",
                    axis.name, format_count(cases.size(), "case"), axis.description));
  }
}

/// Why a combination is no case: the error of a user who has asked for all of it. Nothing for one
/// that is a case.
std::optional<std::string> reason_against(Scenario::Request request, const Scenario& scenario) {
  try {
    if (resolve_case(scenario, request)) return std::nullopt;
    request.given.emplace_back("strategy");
    if (resolve_case(scenario, request)) {
      return fmt::format("the preset has none; --strategy {} adds it", request.spec.strategy);
    }
    for (const Parameter& one : request.spec.parameters) {
      request.given.push_back(one.name);
      if (resolve_case(scenario, request)) {
        return fmt::format("the preset has none; --{} {} adds it", one.name, to_string(one.value));
      }
    }
    request.wants_reason = true;
    static_cast<void>(resolve_case(scenario, request));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "it is not possible with these values";
}

/// The named values of a combination, and why that is no case.
using ReasonsByValues = std::map<std::vector<Value>, std::string>;

/// Whether combinations are left out whatever their value of one of the named axes is.
bool is_irrelevant(const ReasonsByValues& without, std::size_t place,
                   const std::vector<Value>& values) {
  return std::ranges::all_of(without, [&](const auto& one) {
    return std::ranges::all_of(values, [&](const Value& value) {
      std::vector<Value> other = one.first;
      other[place] = value;
      return without.contains(other);
    });
  });
}

/// A strategy with the values that rule it out, such as "pipeline with batch 1", each once.
std::vector<LeftOut> described(const std::string& strategy, const std::vector<Range>& ranges,
                               const ReasonsByValues& without) {
  std::vector<LeftOut> list;
  for (const auto& [values, reason] : without) {
    std::string text;
    std::size_t place = 0;
    for (const Range& range : ranges) {
      if (!is_named(range)) continue;
      if (!is_irrelevant(without, place, range.values)) {
        text += fmt::format("{} {} {}", text.empty() ? " with" : " and", range.axis->name,
                            to_string(values[place]));
      }
      ++place;
    }
    const auto is_known = [&](const LeftOut& one) { return one.what == strategy + text; };
    if (std::ranges::none_of(list, is_known)) list.push_back({strategy + text, reason});
  }
  return list;
}

std::vector<LeftOut> left_out_of_strategy(const RunOptions& options, const Scenario& scenario,
                                          const std::string& strategy, const DeviceSet& devices) {
  const std::vector<Range> ranges = ranges_of(options, scenario, strategy, devices);
  ReasonsByValues without;
  std::set<std::vector<Value>> took_part;
  for (const Combination& combination : combinations(ranges)) {
    const auto reason =
        reason_against(request_of(options, scenario, strategy, devices, combination), scenario);
    if (reason) {
      without.try_emplace(combination.named_values, *reason);
    } else {
      took_part.insert(combination.named_values);
    }
  }
  for (const std::vector<Value>& values : took_part) without.erase(values);
  return described(strategy, ranges, without);
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
    const Range range = range_of(options, axis, devices);
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

/// Shows the parameters that a name shows, because their axes had several values then.
void state_as_in(const std::string& name, CaseSpec& spec) {
  std::vector<std::string> shown;
  for (const Parameter& one : spec.parameters) {
    if (one.implied && name.find(fmt::format("/{}:", one.name)) != std::string::npos) {
      shown.push_back(one.name);
    }
  }
  for (const std::string& parameter : shown) spec.parameters.state(parameter);
}

CaseSpec case_again(const RunOptions& options, const Scenario& scenario, const RerunCase& known,
                    const DeviceSet& devices) {
  if (!has_strategy(scenario, known.spec.strategy)) {
    throw UsageError(
        fmt::format("case '{}' of the report does not exist: scenario {} has no such strategy in "
                    "this version",
                    known.name, scenario.name()));
  }
  auto found = resolve_case(scenario, request_again(options, scenario, known.spec, devices));
  if (found) state_as_in(known.name, *found);
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
  const auto unlike_first = std::ranges::find_if(
      devices, [&](const auto& device) { return !alike(device->info(), devices.front()->info()); });
  const bool only_last = unlike_first != devices.end() && unlike_first + 1 == devices.end();
  const bool over_ranks =
      std::ranges::any_of(devices, [](const auto& device) { return device->info().is_remote; });
  const bool are_cpus =
      std::ranges::all_of(devices, [](const auto& device) { return device->info().host_memory; });
  return {.count = static_cast<int>(devices.size()),
          .alike = unlike_first == devices.end(),
          .last_serves = only_last && devices.back()->info().host_memory,
          .over_ranks = over_ranks,
          .are_cpus = are_cpus};
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
  std::vector<CaseSpec> all = cases.take();
  check_axes_take_part(options, scenario, all);
  return all;
}

std::vector<LeftOut> left_out(const RunOptions& options, const Scenario& scenario,
                              const DeviceSet& devices) {
  std::vector<LeftOut> list;
  if (!options.cases.empty()) return list;
  for (const Strategy& strategy : scenario.strategies()) {
    if (!options.chooses(strategy.name)) continue;
    // Most runs without cpu:all (GPUs, ranks, shared cores) need no note; the guide lists them.
    if (strategy.name == all_cores && options.strategies.empty()) continue;
    std::ranges::move(left_out_of_strategy(options, scenario, strategy.name, devices),
                      std::back_inserter(list));
  }
  return list;
}

}  // namespace parbench
