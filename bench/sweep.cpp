// Expansion of axes into cases.
#include "bench/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "bench/described.h"
#include "kernels/error.h"
#include "scenarios/suggest.h"

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
  std::string user_values;         // as text, to tell combinations of the same user values
  std::vector<std::string> given;  // names of the axes whose values the user gave
};

bool has_strategy(const Scenario& scenario, std::string_view name) {
  return std::ranges::find(scenario.strategies(), name, &Strategy::name) !=
         scenario.strategies().end();
}

const Axis* find_axis(const Scenario& scenario, std::string_view name) {
  const auto found = std::ranges::find(scenario.axes(), name, &Axis::name);
  return found == scenario.axes().end() ? nullptr : &*found;
}

bool is_chosen(const Options& options, std::string_view strategy) {
  return options.strategies.empty() ||
         std::ranges::find(options.strategies, strategy) != options.strategies.end();
}

std::vector<std::string> strategy_names(const std::vector<const Scenario*>& scenarios) {
  std::vector<std::string> names;
  for (const Scenario* scenario : scenarios) {
    for (const Strategy& strategy : scenario->strategies()) {
      if (std::ranges::find(names, strategy.name) == names.end()) names.push_back(strategy.name);
    }
  }
  return names;
}

std::vector<std::string> names_where(const ScenarioList& scenarios, auto predicate) {
  std::vector<std::string> names;
  for (const auto& scenario : scenarios) {
    if (predicate(*scenario)) names.emplace_back(scenario->name());
  }
  return names;
}

void check_strategy(const std::string& name, const std::vector<const Scenario*>& chosen,
                    const ScenarioList& scenarios) {
  const auto has = [&](const Scenario& scenario) { return has_strategy(scenario, name); };
  if (std::ranges::any_of(chosen, [&](const Scenario* scenario) { return has(*scenario); })) return;
  const std::vector<std::string> known = strategy_names(chosen);
  const std::vector<std::string> elsewhere = names_where(scenarios, has);
  const std::string hint =
      elsewhere.empty() ? did_you_mean(name, known)
                        : fmt::format("; it is one of scenario {}", fmt::join(elsewhere, ", "));
  throw UsageError(fmt::format("--strategy '{}' is none of the chosen scenarios{}\nthere are: {}",
                               name, hint, fmt::join(known, ", ")));
}

void check_axis(const std::string& name, const Options& options,
                const std::vector<const Scenario*>& chosen, const ScenarioList& scenarios) {
  std::vector<std::string> wanted_strategies;
  for (const Scenario* scenario : chosen) {
    const Axis* axis = find_axis(*scenario, name);
    if (axis == nullptr) continue;
    for (const Strategy& strategy : scenario->strategies()) {
      if (!axis->applies_to(strategy.name)) continue;
      if (is_chosen(options, strategy.name)) return;
      wanted_strategies.push_back(strategy.name);
    }
  }
  if (!wanted_strategies.empty()) {
    throw UsageError(
        fmt::format("--{} applies to none of the chosen strategies; it is an axis of "
                    "{}",
                    name, fmt::join(wanted_strategies, ", ")));
  }
  const auto has = [&](const Scenario& scenario) { return find_axis(scenario, name) != nullptr; };
  throw UsageError(fmt::format("--{} is no axis of the chosen scenarios; it is one of scenario {}",
                               name, fmt::join(names_where(scenarios, has), ", ")));
}

std::vector<Value> preset_values(const Options& options, const Axis& axis) {
  return options.preset == "seed" ? axis.seed : axis.quick;
}

Range range_of(const Options& options, const Axis& axis) {
  const auto given = options.axes.find(axis.name);
  if (given == options.axes.end()) return {&axis, preset_values(options, axis), false};
  Range range{&axis, {}, true};
  for (const std::string& text : given->second) range.values.push_back(parse_value(axis, text));
  if (!axis.identity && range.values.size() > 1) {
    throw UsageError(
        fmt::format("--{} takes one value: it is not part of a case's name, so cases "
                    "with different values could not be told apart",
                    axis.name));
  }
  return range;
}

void append(Combination& combination, const Range& range, const Value& value) {
  (range.axis->identity ? combination.parameters : combination.hidden).set(range.axis->name, value);
  if (!range.from_user) return;
  combination.given.push_back(range.axis->name);
  combination.user_values += fmt::format("--{} {} ", range.axis->name, to_string(value));
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
  void add(CaseSpec spec) {
    if (names_.insert(spec.name()).second) cases_.push_back(std::move(spec));
  }
  [[nodiscard]] std::vector<CaseSpec> take() { return std::move(cases_); }

 private:
  std::vector<CaseSpec> cases_;
  std::set<std::string> names_;
};

void set_format(CaseSpec& spec, NumberFormat format) {
  spec.dtype = format.dtype;
  spec.math = format.math;
}

CaseSpec new_spec(const Options& options, const Scenario& scenario, const std::string& strategy) {
  CaseSpec spec;
  spec.scenario = scenario.name();
  spec.strategy = strategy;
  set_format(spec, options.format);
  spec.graph = options.graph;
  return spec;
}

void expand_strategy(const Options& options, const Scenario& scenario, const std::string& strategy,
                     const DeviceSet& devices, CaseList& cases) {
  std::vector<Range> ranges;
  for (const Axis& axis : scenario.axes()) {
    if (axis.applies_to(strategy)) ranges.push_back(range_of(options, axis));
  }
  std::map<std::string, bool> took_part;  // the user's values: in any case at all?
  std::map<std::string, UsageError> refused;
  for (Combination& combination : combinations(ranges)) {
    bool& used = took_part[combination.user_values];
    Scenario::Request request;
    request.spec = new_spec(options, scenario, strategy);
    request.device_count = devices.count;
    request.devices_alike = devices.alike;
    request.preset = options.preset;
    request.given = std::move(combination.given);
    if (!options.strategies.empty()) request.given.emplace_back("strategy");
    request.spec.parameters = std::move(combination.parameters);
    request.spec.hidden = std::move(combination.hidden);
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

std::vector<std::string> split_name(std::string_view name) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t slash = name.find('/');
    parts.emplace_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

/// Reads "<axis>:<value>" of a name. What is no axis of the scenario, the number of devices for
/// one, is left to Scenario::resolve.
void read_name_part(const Scenario& scenario, std::string_view part, Scenario::Request& request,
                    Parameters& named) {
  const std::size_t colon = part.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = part.substr(0, colon);
  const std::string_view text = part.substr(colon + 1);
  if (name == "dtype") set_format(request.spec, number_format_named(text).value_or(NumberFormat{}));
  if (name == "graph") request.spec.graph = text == "true";
  const Axis* axis = find_axis(scenario, name);
  if (axis == nullptr) return;
  named.set(axis->name, parse_value(*axis, text));
  request.given.push_back(axis->name);
}

/// Completes what a name says, in the order of the axes as a sweep does. A name may leave out an
/// axis at its default, which is the first value of the preset.
void add_values(const Options& options, const Scenario& scenario, const Parameters& named,
                CaseSpec& spec) {
  for (const Axis& axis : scenario.axes()) {
    if (!axis.applies_to(spec.strategy)) continue;
    const Value* value = named.find(axis.name);
    const Range range = range_of(options, axis);
    if (value == nullptr && !range.values.empty()) value = &range.values.front();
    if (value != nullptr) (axis.identity ? spec.parameters : spec.hidden).set(axis.name, *value);
  }
}

CaseSpec named_case(const Options& options, const Scenario& scenario, const std::string& name,
                    const DeviceSet& devices) {
  const std::vector<std::string> parts = split_name(name);
  if (parts.size() < 2 || !has_strategy(scenario, parts[1])) {
    throw UsageError(
        fmt::format("case '{}' of the report does not exist: scenario {} has no such "
                    "strategy in this version",
                    name, scenario.name()));
  }
  Scenario::Request request;
  request.spec = new_spec(options, scenario, parts[1]);
  set_format(request.spec, {});  // these two: unless the name says otherwise
  request.spec.graph = false;
  request.device_count = devices.count;
  request.devices_alike = devices.alike;
  request.preset = options.preset;
  Parameters named;
  for (std::size_t i = 2; i < parts.size(); ++i) read_name_part(scenario, parts[i], request, named);
  add_values(options, scenario, named, request.spec);
  const auto resolved = scenario.resolve(request);
  if (!resolved || resolved->name() != name) {
    throw UsageError(
        fmt::format("case '{}' of the report cannot be run again with {} device{}: it "
                    "would be '{}'\n--devices chooses others",
                    name, devices.count, devices.count == 1 ? "" : "s",
                    resolved ? resolved->name() : "no case"));
  }
  return *resolved;
}

}  // namespace

std::vector<const Scenario*> chosen_scenarios(const Options& options,
                                              const ScenarioList& scenarios) {
  std::vector<const Scenario*> chosen;
  for (const std::string& name : options.scenarios) {
    const auto found = std::ranges::find_if(
        scenarios, [&](const auto& scenario) { return scenario->name() == name; });
    if (found == scenarios.end()) {
      throw UsageError(fmt::format("scenario '{}' does not exist{}", name,
                                   did_you_mean(name, names_of(scenarios))));
    }
    chosen.push_back(found->get());
  }
  return chosen;
}

void check_selection(const Options& options, const ScenarioList& scenarios) {
  const std::vector<const Scenario*> chosen = chosen_scenarios(options, scenarios);
  for (const std::string& name : options.strategies) check_strategy(name, chosen, scenarios);
  for (const auto& [name, values] : options.axes) check_axis(name, options, chosen, scenarios);
}

DeviceSet set_of(const std::vector<std::unique_ptr<Device>>& devices) {
  const bool all_alike = std::ranges::all_of(
      devices, [&](const auto& device) { return alike(device->info(), devices.front()->info()); });
  return {.count = static_cast<int>(devices.size()), .alike = all_alike};
}

std::vector<CaseSpec> expand(const Options& options, const Scenario& scenario,
                             const DeviceSet& devices) {
  CaseList cases;
  if (!options.only_cases.empty()) {
    for (const std::string& name : options.only_cases) {
      if (scenario_of(name) == scenario.name()) {
        cases.add(named_case(options, scenario, name, devices));
      }
    }
    return cases.take();
  }
  for (const Strategy& strategy : scenario.strategies()) {
    if (is_chosen(options, strategy.name)) {
      expand_strategy(options, scenario, strategy.name, devices, cases);
    }
  }
  return cases.take();
}

std::vector<std::string> strategies_left_out(const Options& options, const Scenario& scenario,
                                             const std::vector<CaseSpec>& cases) {
  std::vector<std::string> names;
  if (!options.strategies.empty() || !options.only_cases.empty()) return names;
  for (const Strategy& strategy : scenario.strategies()) {
    if (std::ranges::find(cases, strategy.name, &CaseSpec::strategy) == cases.end()) {
      names.push_back(strategy.name);
    }
  }
  return names;
}

}  // namespace parbench
