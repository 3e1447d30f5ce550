// From sessions to the report and its file.
#include "bench/recorder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bench/flag_files.h"
#include "bench/flags.h"
#include "bench/version.h"
#include "reports/file.h"
#include "reports/machine_info.h"

namespace parbench {
namespace {

std::string utc(std::string_view format, std::chrono::system_clock::time_point time) {
  return fmt::format(fmt::runtime(format), fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

report::NamedValues named_values(const auto& parameters) {
  report::NamedValues values;
  for (const auto& [name, value] : parameters) values.emplace_back(name, value);
  return values;
}

report::NamedTexts libraries_of(const Machine& machine) {
  report::NamedTexts libraries;
  for (const auto& backend : machine.backends()) {
    for (const auto& component : backend->components()) {
      libraries.emplace_back(component.name, component.version);
    }
  }
  return libraries;
}

report::Case not_run(const CaseSpec& spec) {
  report::Case planned;
  planned.name = spec.name();
  planned.scenario = spec.scenario;
  planned.strategy = spec.strategy;
  planned.parameters = named_values(spec.parameters);
  planned.hidden_parameters = named_values(spec.hidden);
  planned.dtype = to_string(spec.dtype);
  return planned;
}

}  // namespace

std::filesystem::path default_report_directory() {
  const char* home = std::getenv("PARBENCH_HOME");
  const std::filesystem::path base = home == nullptr ? "" : home;
  return base / "reports" / "runs";
}

std::filesystem::path provide_report_path(const Options& options, std::size_t scenario_count,
                                          std::chrono::system_clock::time_point started) {
  if (!options.report_path.empty()) {
    naming_flag("--report ", [&] { report::check_writable(options.report_path); });
    return options.report_path;
  }
  const bool all = options.scenarios.size() == scenario_count && scenario_count > 1;
  const std::string name = all ? "all" : fmt::format("{}", fmt::join(options.scenarios, "+"));
  const std::filesystem::path path =
      default_report_directory() /
      fmt::format("{}-{}.json", utc("{:%Y%m%dT%H%M%SZ}", started), name);
  naming_flag("without --report, ",
              [&] { report::check_writable(path, default_report_directory()); });
  return report::claim_file(path);
}

Recorder::Recorder(std::filesystem::path path, const Options& options, const Machine& machine,
                   std::chrono::system_clock::time_point started)
    : path_(std::move(path)), begin_(std::chrono::steady_clock::now()) {
  report_.version = version;
  report_.started_utc = utc("{:%Y-%m-%dT%H:%M:%SZ}", started);
  report_.command_line = options.command_line;
  report_.options = named_values(flags_from(options));
  report_.machine = report::machine_info(libraries_of(machine));
}

void Recorder::plan(const std::vector<CaseSpec>& specs) {
  for (const CaseSpec& spec : specs) report_.cases.push_back(not_run(spec));
}

void Recorder::add_device(const DeviceInfo& info) {
  report::Device device{info.name,  info.backend,    info.model,
                        info.cores, info.copy_cores, info.memory_bytes};
  if (std::ranges::find(report_.devices, device) == report_.devices.end()) {
    report_.devices.push_back(std::move(device));
  }
}

void Recorder::update(const Scenario& scenario, const SessionResult& result) {
  for (const report::Case& known : result.cases) {
    const auto place = std::ranges::find(report_.cases, known.name, &report::Case::name);
    if (place != report_.cases.end()) *place = known;
  }
  const std::string name(scenario.name());
  if (result.answer) {
    std::erase_if(report_.answers, [&](const auto& answer) { return answer.scenario == name; });
    report_.answers.push_back(*result.answer);
  }
  std::erase_if(sampling_, [&](const auto& entry) { return entry.first == name; });
  sampling_.emplace_back(name, result.sampling_seconds);
}

void Recorder::refresh(bool complete) {
  report_.complete = complete;
  report_.duration_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  report_.sampling_seconds = 0;
  for (const auto& [scenario, seconds] : sampling_) report_.sampling_seconds += seconds;
}

void Recorder::write(const GoogleBenchmark& raw) const {
  report::write_report(path_, report_, raw.part());
}

}  // namespace parbench
