// Reads the options of a run from an earlier report, a config file and the command line; later
// sources take precedence.
#include "bench/cli/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "bench/cli/flag_files.h"
#include "kernels/base/error.h"
#include "scenarios/framework/suggest.h"

namespace parbench {
namespace {

const Axis* find_axis(const Scenario& scenario, std::string_view name) {
  const auto found = std::ranges::find(scenario.axes(), name, &Axis::name);
  return found == scenario.axes().end() ? nullptr : &*found;
}

std::vector<std::string> names_where(const ScenarioList& scenarios, auto predicate) {
  std::vector<std::string> names;
  for (const auto& scenario : scenarios) {
    if (predicate(*scenario)) names.emplace_back(scenario->name());
  }
  return names;
}

void check_strategy(const std::string& name, const RunOptions& options,
                    const ScenarioList& scenarios) {
  const auto has = [&](const Scenario& scenario) {
    return std::ranges::find(scenario.strategies(), name, &Strategy::name) !=
           scenario.strategies().end();
  };
  std::vector<std::string> known;
  for (const Scenario* scenario : options.scenarios) {
    if (has(*scenario)) return;
    for (const Strategy& strategy : scenario->strategies()) {
      if (std::ranges::find(known, strategy.name) == known.end()) known.push_back(strategy.name);
    }
  }
  const std::vector<std::string> elsewhere = names_where(scenarios, has);
  const std::string hint =
      elsewhere.empty() ? did_you_mean(name, known)
                        : fmt::format("; it is one of scenario {}", fmt::join(elsewhere, ", "));
  throw UsageError(fmt::format("unknown strategy '{}' for scenario {}{}\navailable: {}", name,
                               fmt::join(names_of(options.scenarios), ", "), hint,
                               fmt::join(known, ", ")));
}

[[noreturn]] void refuse_axis(const std::string& name, const RunOptions& options,
                              const ScenarioList& scenarios) {
  std::vector<std::string> strategies;
  for (const Scenario* scenario : options.scenarios) {
    const Axis* axis = find_axis(*scenario, name);
    if (axis == nullptr) continue;
    for (const Strategy& strategy : scenario->strategies()) {
      if (axis->applies_to(strategy.name)) strategies.push_back(strategy.name);
    }
  }
  if (!strategies.empty()) {
    throw UsageError(
        fmt::format("--{} applies to none of the chosen strategies; it is an axis of {}: add one "
                    "to --strategy, or leave --{} out",
                    name, fmt::join(strategies, ", "), name));
  }
  std::string choices;
  for (const auto& scenario : scenarios) {
    if (find_axis(*scenario, name) == nullptr) continue;
    choices += fmt::format("\n  --scenario {}: {}", scenario->name(), scenario->question());
  }
  throw UsageError(
      fmt::format("--{} is not an axis of the chosen scenarios; leave it out, or "
                  "choose one that has it:{}",
                  name, choices));
}

/// Returns the axes of that name in the chosen scenarios that apply to a chosen strategy.
std::vector<const Axis*> chosen_axes(const std::string& name, const RunOptions& options) {
  std::vector<const Axis*> axes;
  for (const Scenario* scenario : options.scenarios) {
    const Axis* axis = find_axis(*scenario, name);
    const bool applies =
        axis != nullptr && std::ranges::any_of(scenario->strategies(), [&](const Strategy& one) {
          return axis->applies_to(one.name) && options.chooses(one.name);
        });
    if (applies) axes.push_back(axis);
  }
  return axes;
}

/// Parses the values of an axis by the rules of the chosen scenarios that have it.
void read_axis(FlagRow row, const std::vector<std::string>& texts, const RunOptions& options,
               const ScenarioList& scenarios) {
  const std::vector<const Axis*> axes = chosen_axes(row.value.name, options);
  if (axes.empty()) refuse_axis(row.value.name, options, scenarios);
  row.value = *axes.front();
  const std::vector<Value> values = parse_values(row, texts);
  if (!row.value.identity && values.size() > 1) {
    throw UsageError(
        fmt::format("--{} takes one value: it is not part of a case's name, so cases with "
                    "different values would have the same name",
                    row.value.name));
  }
  for (auto other = axes.begin() + 1; other != axes.end(); ++other) {
    for (const Value& value : values) check_value(**other, value);
  }
  (*std::get<AxisValues*>(row.target))[row.value.name] = values;
}

using FlagNames = std::set<std::string, std::less<>>;

/// Reads the given flags of all rows. The fixed flags come first in the table, because axes are
/// read by the rules of the chosen scenarios. Errors about the flags `of_config` name the file of
/// --config.
void read_rows(const FlagTexts& texts, const FlagNames& of_config, RunOptions& options,
               const ScenarioList& scenarios) {
  for (const FlagRow& row : run_flags(options, scenarios)) {
    const auto found = texts.find(row.value.name);
    if (found == texts.end()) continue;
    const std::string file = of_config.contains(row.value.name)
                                 ? fmt::format("--config '{}': ", options.config_path)
                                 : std::string();
    naming_flag(file, [&] {
      if (std::holds_alternative<AxisValues*>(row.target)) {
        read_axis(row, found->second, options, scenarios);
      } else {
        read_flag(row, found->second);
      }
    });
  }
}

/// Adds the flags of --config, and then those of the report of --rerun or --resume, unless they are
/// given already. Returns the names of the flags added from --config.
FlagNames add_files(FlagTexts& texts, RunOptions& options, const ScenarioList& scenarios) {
  const std::vector<FlagRow> rows = run_flags(options, scenarios);
  const auto path_of = [&](std::string_view flag) {
    const auto found = texts.find(flag);
    if (found != texts.end()) read_flag(*find_row(rows, flag), found->second);
  };
  path_of("config");
  FlagNames of_config;
  if (!options.config_path.empty()) {
    for (const auto& [name, values] : read_config(options.config_path, rows)) {
      if (texts.try_emplace(name, values).second) of_config.insert(name);
    }
  }
  check_exclusions(rows, texts);
  path_of("rerun");
  path_of("resume");
  const bool resumes = !options.resume_path.empty();
  if (!resumes && options.rerun_path.empty()) return of_config;
  Rerun rerun = resumes ? read_rerun("--resume", options.resume_path, rows, scenarios)
                        : read_rerun("--rerun", options.rerun_path, rows, scenarios);
  if (resumes) {
    check_resumable(options.resume_path, *rerun.report);
    options.resumed = rerun.report;
  }
  // These flags request adaptive sampling, which a fixed number of samples would override.
  if (texts.contains("precision") || texts.contains("min-samples")) {
    std::erase_if(rerun.benchmark_flags, [](const std::string& flag) {
      return flag.starts_with("--benchmark_repetitions=");
    });
  }
  std::erase_if(rerun.flags, [&](const auto& repeated) {
    return std::ranges::any_of(texts, [&](const auto& given) {
      return given.first != "rerun" && given.first != "resume" && given.second.back() != "false" &&
             exclude_each_other(rows, given.first, repeated.first);
    });
  });
  texts.merge(rerun.flags);
  options.cases = std::move(rerun.cases);
  options.scenarios = std::move(rerun.scenarios);
  options.benchmark_flags = std::move(rerun.benchmark_flags);
  return of_config;
}

void refuse_standard_output(std::string_view flag, const std::string& path) {
  if (path != "-") return;
  throw UsageError(
      fmt::format("--{} '-' is not a file: standard output is used for the table; name a file (./- "
                  "for a file named -)",
                  flag));
}

void require_scenario(const RunOptions& options, const ScenarioList& scenarios) {
  if (!options.scenarios.empty()) return;
  std::string text = "no scenario chosen: give --scenario NAME[,NAME…] or --scenario all";
  for (const auto& scenario : scenarios) {
    text += fmt::format("\n{}: {}", scenario->name(), scenario->question());
  }
  throw UsageError(text + "\nparbench --help shows all flags");
}

/// Checks --process: a process that is part of another run needs the cases of that run's report.
void check_process(const RunOptions& options) {
  if (!options.process) return;
  if (!options.rerun_path.empty() && *options.process < options.processes) return;
  throw UsageError(
      "--process is for the processes that --processes starts by itself; leave it out");
}

}  // namespace

bool RunOptions::chooses(std::string_view strategy) const {
  return strategies.empty() || std::ranges::find(strategies, strategy) != strategies.end();
}

RunOptions read_run_options(FlagTexts texts, std::vector<std::string> benchmark_flags,
                            const ScenarioList& scenarios) {
  RunOptions options;
  const FlagNames of_config = add_files(texts, options, scenarios);
  if (!texts.contains("scenario")) require_scenario(options, scenarios);
  read_rows(texts, of_config, options, scenarios);
  for (const std::string& name : options.strategies) check_strategy(name, options, scenarios);
  refuse_standard_output("report", options.report_path);
  refuse_standard_output("trace", options.trace_path);
  check_process(options);
  check_project(options.project);
  if (options.report_path.empty()) options.report_path = options.resume_path;
  // Flags of the command line follow the flags of the report, because later flags take precedence.
  std::ranges::move(benchmark_flags, std::back_inserter(options.benchmark_flags));
  return options;
}

std::vector<Parameter> flags_from(const RunOptions& options) {
  RunOptions copy = options;
  const ScenarioList no_axes;
  std::vector<FlagRow> rows = run_flags(copy, no_axes);
  for (const auto& [name, values] : options.axes) {
    rows.push_back({.value = {.name = name, .description = {}},
                    .in_report = InReport::recorded,
                    .target = &copy.axes});
  }
  std::vector<Parameter> flags;
  for (const FlagRow& row : rows) {
    if (row.in_report == InReport::nothing) continue;
    if (auto value = value_of(row)) flags.push_back({row.value.name, std::move(*value)});
  }
  return flags;
}

}  // namespace parbench
