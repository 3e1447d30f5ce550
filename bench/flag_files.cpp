// Reading of config files and of the reports that are to be run again.
#include "bench/flag_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/described.h"
#include "kernels/error.h"
#include "reports/io/file.h"
#include "scenarios/suggest.h"

namespace parbench {
namespace {

using report::Json;

constexpr report::ReadLimits config_limits{
    .bytes = 1'000'000, .values = 10'000, .depth = 8, .remedy = "a configuration holds some flags"};

Json read_object(const std::string& path) {
  Json json = naming_flag("--config ", [&] { return report::read_json(path, config_limits); });
  if (json.is_object()) return json;
  throw UsageError(
      fmt::format("--config '{}' holds no object; it should be one such as "
                  "{{\"scenario\": \"pipeline\", \"split\": [1, 5]}}",
                  path));
}

/// A value of a config file as the command line would spell it.
std::string spell(const std::string& place, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  throw UsageError(fmt::format("{} is {}; allowed: text, numbers and lists of them", place,
                               value.is_boolean() ? value.dump() : value.type_name()));
}

std::vector<std::string> texts_of(const std::string& place, const Flag& flag, const Json& value) {
  if (flag.kind == FlagKind::toggle) {
    if (value.is_boolean()) return {value.dump()};
    throw UsageError(fmt::format("{} is {}; allowed: true, false", place, value.dump()));
  }
  if (!value.is_array()) return {spell(place, value)};
  if (value.empty()) throw UsageError(fmt::format("{} is an empty list", place));
  std::vector<std::string> texts;
  for (const Json& item : value) texts.push_back(spell(place, item));
  if (flag.kind != FlagKind::single) return texts;
  const bool takes_commas = flag.placeholder.find(',') != std::string::npos;
  throw UsageError(fmt::format(
      "{} is a list; it takes one value{}", place,
      takes_commas ? fmt::format(", here \"{}\"", fmt::join(texts, ",")) : std::string()));
}

/// Flags of a report's options that say how it was measured, and axes outside the cases' names.
bool is_repeated(const std::string& flag, const ScenarioList& scenarios) {
  static const std::vector<std::string> measuring{
      "preset",     "devices",   "dtype",       "graph",    "autotune", "profile",
      "no-profile", "precision", "min-samples", "max-time", "seed",     "launches"};
  if (std::ranges::find(measuring, flag) != measuring.end()) return true;
  return std::ranges::any_of(scenarios, [&](const auto& scenario) {
    return std::ranges::any_of(
        scenario->axes(), [&](const Axis& axis) { return !axis.identity && axis.name == flag; });
  });
}

}  // namespace

FlagValues read_config(const std::string& path, const std::vector<Flag>& known) {
  static const std::vector<std::string> not_in_files{"config", "rerun", "version", "launch"};
  std::vector<Flag> flags = known;
  std::erase_if(flags, [](const Flag& flag) {
    return std::ranges::find(not_in_files, flag.name) != not_in_files.end();
  });
  FlagValues values;
  const Json object = read_object(path);
  for (const auto& [key, value] : object.items()) {
    const auto flag = std::ranges::find(flags, key, &Flag::name);
    const std::string place = fmt::format("'{}' in --config '{}'", key, path);
    if (flag == flags.end()) {
      throw UsageError(fmt::format("{} is no flag that a file can set{}", place,
                                   did_you_mean(key, names_of(flags))));
    }
    values[key] = texts_of(place, *flag, value);
  }
  return values;
}

void check_files_differ(const Options& options, const std::string& benchmark_out) {
  struct File {
    std::string_view flag;
    const std::string& path;
  };
  const std::vector<File> outputs{{"--report", options.report_path},
                                  {"--trace", options.trace_path},
                                  {"--benchmark_out", benchmark_out}};
  std::vector<File> others{{"--config", options.config_path}, {"--rerun", options.rerun_path}};
  for (const File& output : outputs) {
    if (output.path.empty()) continue;
    for (const File& other : others) {
      if (other.path.empty() || !report::is_same_file(output.path, other.path)) continue;
      throw UsageError(
          fmt::format("{} '{}' is the file of {} too, which it would overwrite; "
                      "choose another path",
                      output.flag, output.path, other.flag));
    }
    others.push_back(output);
  }
}

Rerun read_rerun(const std::string& path, const ScenarioList& scenarios) {
  const report::Report report = naming_flag("--rerun ", [&] { return report::read_report(path); });
  Rerun rerun;
  for (const auto& [flag, value] : report.options) {
    if (is_repeated(flag, scenarios)) rerun.flags[flag] = {to_string(value)};
    if (flag == "benchmark_repetitions" || flag == "benchmark_min_time") {
      rerun.benchmark_flags.push_back(fmt::format("--{}={}", flag, to_string(value)));
    }
  }
  const std::vector<std::string> known = names_of(scenarios);
  for (const report::CaseResult& measured : report.cases) {
    if (std::ranges::find(known, scenario_of(measured.name)) == known.end()) {
      throw UsageError(fmt::format("--rerun '{}': case '{}' is of a scenario that does not exist",
                                   path, measured.name));
    }
    rerun.cases.push_back(measured.name);
  }
  if (rerun.cases.empty()) throw UsageError(fmt::format("--rerun '{}' has no cases", path));
  return rerun;
}

}  // namespace parbench
