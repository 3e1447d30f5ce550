// Reads config files, and reports for --rerun and --resume.
#include "bench/cli/flag_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/io/file.h"
#include "reports/model/notes.h"
#include "scenarios/framework/suggest.h"

namespace parbench {
namespace {

using report::Json;

constexpr report::ReadLimits config_limits{
    .bytes = 1'000'000, .values = 10'000, .depth = 8, .remedy = "a configuration holds some flags"};

Json read_object(const std::string& path) {
  Json json = naming_flag("--config ", [&] { return report::read_json(path, config_limits); });
  if (json.is_object()) return json;
  throw UsageError(
      fmt::format("--config '{}' is not a JSON object; give one such as {{\"scenario\": "
                  "\"pipeline\", \"split\": [1, 5]}}",
                  path));
}

/// Returns a value of a config file as the command line would spell it.
std::string spell(const std::string& source, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  throw UsageError(fmt::format("{} is {}; allowed: text, numbers and lists of them", source,
                               value.is_boolean() ? value.dump() : value.type_name()));
}

std::vector<std::string> texts_of(const std::string& source, const FlagRow& flag,
                                  const Json& value) {
  if (flag.kind == FlagKind::toggle) {
    if (value.is_boolean()) return {value.dump()};
    throw UsageError(fmt::format("{} is {}; allowed: true, false", source, value.dump()));
  }
  if (!value.is_array()) return {spell(source, value)};
  if (value.empty())
    throw UsageError(fmt::format("{} is an empty list; give at least one value", source));
  std::vector<std::string> texts;
  for (const Json& item : value) texts.push_back(spell(source, item));
  if (flag.kind == FlagKind::list || flag.kind == FlagKind::many) return texts;
  const bool takes_commas = flag.placeholder.find(',') != std::string::npos;
  throw UsageError(fmt::format(
      "{} is a list; it takes one value{}", source,
      takes_commas ? fmt::format(", here \"{}\"", fmt::join(texts, ",")) : std::string()));
}

void check_axes(const Scenario& scenario, const Parameters& values) {
  for (const Parameter& parameter : values) {
    const auto axis = std::ranges::find(scenario.axes(), parameter.name, &Axis::name);
    if (axis != scenario.axes().end()) check_value(*axis, parameter.value);
  }
}

Parameters parameters_of(const report::NamedValues& values) {
  Parameters parameters;
  for (const auto& [name, value] : values) parameters.set(name, value);
  return parameters;
}

RerunCase rerun_case(const report::CaseResult& measured, const Scenario& scenario) {
  RerunCase again{measured.name,
                  {.scenario = measured.scenario,
                   .strategy = measured.strategy,
                   .parameters = parameters_of(measured.parameters),
                   .hidden = parameters_of(measured.hidden_parameters),
                   .graph = measured.graph},
                  report::cut_of(measured)};
  const auto format = number_format_named(measured.dtype);
  if (!format)
    throw UsageError(fmt::format("dtype '{}' does not exist; allowed: {}", measured.dtype,
                                 fmt::join(number_format_names(), ", ")));
  again.spec.dtype = format->dtype;
  again.spec.math = format->math;
  check_axes(scenario, again.spec.parameters);
  check_axes(scenario, again.spec.hidden);
  return again;
}

}  // namespace

FlagTexts read_config(const std::string& path, const std::vector<FlagRow>& known) {
  std::vector<FlagRow> rows = known;
  std::erase_if(rows, [](const FlagRow& row) { return !row.in_config; });
  FlagTexts texts;
  const Json object = read_object(path);
  for (const auto& [key, value] : object.items()) {
    const FlagRow* row = find_row(rows, key);
    const std::string source = fmt::format("'{}' in --config '{}'", key, path);
    if (row == nullptr) {
      throw UsageError(fmt::format("{} is not a flag that a file can set{}", source,
                                   did_you_mean(key, names_of(rows))));
    }
    texts[key] = texts_of(source, *row, value);
  }
  return texts;
}

void check_files_differ(const RunOptions& options, const std::string& benchmark_out) {
  struct File {
    std::string_view flag;
    const std::string& path;
  };
  const std::vector<File> outputs{{"--report", options.report_path},
                                  {"--trace", options.trace_path},
                                  {"--benchmark_out", benchmark_out}};
  std::vector<File> others{{"--config", options.config_path}, {"--rerun", options.rerun_path}};
  if (!options.resume_path.empty() &&
      !report::is_same_file(options.report_path, options.resume_path)) {
    others.push_back({"--resume", options.resume_path});
  }
  for (const File& output : outputs) {
    if (output.path.empty()) continue;
    for (const File& other : others) {
      if (other.path.empty() || !report::is_same_file(output.path, other.path)) continue;
      throw UsageError(fmt::format(
          "{} '{}' is also the file of {}, which would be overwritten; choose another path",
          output.flag, output.path, other.flag));
    }
    others.push_back(output);
  }
}

Rerun read_rerun(std::string_view flag, const std::string& path, const std::vector<FlagRow>& known,
                 const ScenarioList& scenarios) {
  const std::string file = fmt::format("{} '{}'", flag, path);
  Rerun rerun;
  rerun.report = naming_flag(fmt::format("{} ", flag), [&] {
    return std::make_shared<const report::Report>(report::read_report(path));
  });
  const report::Report& report = *rerun.report;
  if (!report.measured_by.empty()) {
    throw UsageError(
        fmt::format("{} was measured by {}; name a report that a run of parbench has written", file,
                    report.measured_by));
  }
  for (const auto& [name, value] : report.options) {
    const FlagRow* row = find_row(known, name);
    if (row != nullptr && row->in_report == InReport::repeated) {
      rerun.flags[name] = {to_string(value)};
    }
    if (name == "benchmark_repetitions" || name == "benchmark_min_time") {
      rerun.benchmark_flags.push_back(fmt::format("--{}={}", name, to_string(value)));
    }
  }
  for (const report::CaseResult& measured : report.cases) {
    const auto scenario = std::ranges::find_if(
        scenarios, [&](const auto& one) { return one->name() == measured.scenario; });
    if (scenario == scenarios.end()) {
      throw UsageError(
          fmt::format("{}: case '{}' belongs to scenario '{}', which this program does not have; "
                      "use the program that measured it",
                      file, measured.name, measured.scenario));
    }
    naming_flag(fmt::format("{}: case '{}': ", file, measured.name),
                [&] { rerun.cases.push_back(rerun_case(measured, **scenario)); });
    if (std::ranges::find(rerun.scenarios, scenario->get()) == rerun.scenarios.end()) {
      rerun.scenarios.push_back(scenario->get());
    }
  }
  if (rerun.cases.empty()) throw UsageError(file + " has no cases; name a report that has some");
  return rerun;
}

void check_resumable(const std::string& path, const report::Report& report) {
  const auto refuse = [&](std::string_view why) {
    throw UsageError(fmt::format("--resume '{}' {}; --rerun measures its cases again", path, why));
  };
  if (!report.processes.empty()) refuse("has several processes");
  if (report::is_profile(report)) refuse("was measured for a profiler");
  if (std::ranges::none_of(report.cases, report::is_unfinished)) {
    refuse("is complete: nothing is left to measure");
  }
}

}  // namespace parbench
