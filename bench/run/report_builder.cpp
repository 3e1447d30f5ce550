#include "bench/run/report_builder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

#include "bench/cli/flag_files.h"
#include "bench/execution/ranges.h"
#include "bench/output/version.h"
#include "bench/sampling/described.h"
#include "bench/sampling/earlier_part.h"
#include "bench/sampling/google_benchmark.h"
#include "bench/sampling/results.h"
#include "kernels/base/error.h"
#include "reports/findings/findings.h"
#include "reports/io/file.h"
#include "reports/model/fingerprint.h"
#include "reports/model/machine_info.h"

namespace parbench {
namespace {

std::string utc(std::string_view format, std::chrono::system_clock::time_point time) {
  return fmt::format(fmt::runtime(format), fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

report::NamedTexts libraries_of(const Machine& machine) {
  report::NamedTexts libraries = machine.libraries();
  libraries.emplace_back("NVTX", nvtx_support());
  return libraries;
}

/// Returns a limit for the report; nothing if infinite, because JSON has no infinity.
std::optional<double> finite(double seconds) {
  return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

/// Returns whether the user gave the commit; only parbench's own commit has the fact `dirty`.
bool has_commit_of_user(const report::Machine& machine) { return machine.commit && !machine.dirty; }

report::Sampling described(std::string_view scenario, const SamplerOptions& options) {
  return {.scenario = std::string(scenario),
          .precision = options.precision,
          .min_samples = options.min_samples,
          .max_seconds = finite(options.max_seconds),
          .total_seconds = finite(options.total_seconds),
          .fixed_samples = options.fixed_samples,
          .fixed_iterations = options.fixed_iterations,
          .min_sample_seconds = options.min_sample_seconds};
}

}  // namespace

PhaseTimes times_of(const report::Report& report) {
  return {.preparation = report.preparation_seconds,
          .verification = report.verification_seconds,
          .sampling = report.sampling_seconds,
          .task_costs = report.task_cost_seconds,
          .profiling = report.profiling_seconds};
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  return utc("{:%Y-%m-%dT%H:%M:%SZ}", time);
}

std::filesystem::path default_report_directory() {
  const char* home = std::getenv("PARBENCH_HOME");
  const std::filesystem::path base = home == nullptr ? "" : home;
  const std::filesystem::path from_here = base.lexically_proximate(std::filesystem::current_path());
  const bool is_below = from_here == "." || (!from_here.empty() && *from_here.begin() != "..");
  return ((is_below ? from_here : base) / "reports" / "runs").lexically_normal();
}

std::filesystem::path provide_report_path(const RunOptions& options, std::size_t scenario_count,
                                          std::chrono::system_clock::time_point started) {
  if (!options.report_path.empty()) {
    naming_flag("--report ", [&] { report::check_writable(options.report_path); });
    return options.report_path;
  }
  const bool all = options.scenarios.size() == scenario_count && scenario_count > 1;
  const std::string name =
      all ? "all" : fmt::format("{}", fmt::join(names_of(options.scenarios), "+"));
  const std::filesystem::path path =
      default_report_directory() /
      fmt::format("{}-{}.json", utc("{:%Y%m%dT%H%M%SZ}", started), name);
  naming_flag("without --report, ",
              [&] { report::check_writable(path, default_report_directory()); });
  return report::claim_file(path);
}

ReportBuilder::ReportBuilder(std::filesystem::path path, const RunOptions& options,
                             const Machine& machine, const BenchmarkFlags& flags,
                             std::chrono::system_clock::time_point started, double begin,
                             CpuQuota quota)
    : path_(std::move(path)),
      begin_(begin),
      published_settings_(options.preset == Preset::published),
      resumed_(options.resumed),
      quota_(std::move(quota)) {
  report_.version = version;
  report_.started_utc = resumed_ ? resumed_->started_utc : utc_text(started);
  if (resumed_) {
    process_times_ = times_of(*resumed_);
    report_.answers = resumed_->answers;
  }
  report_.command_line = options.command_line;
  report_.options = named_values(flags_from(options));
  if (flags.repetitions) {
    report_.options.emplace_back("benchmark_repetitions", std::int64_t{*flags.repetitions});
  }
  if (flags.min_time_seconds) {
    report_.options.emplace_back("benchmark_min_time", *flags.min_time_seconds);
  }
  report_.machine = report::machine_info(libraries_of(machine));
  report_.machine.caches = cpu_caches();
  report_.machine.cpu_quota = quota_.limit(report_.machine.cores_allowed.size());
  describe_project(options.project);
}

/// Sets labels and commit. A commit from the user replaces all facts about the commit of parbench's
/// own sources. A resumed run keeps the labels and the user's commit of its earlier part unless
/// their flags are given again.
void ReportBuilder::describe_project(const ProjectOptions& project) {
  report_.labels = labels_of(project);
  if (resumed_ && project.labels.empty()) report_.labels = resumed_->labels;
  if (resumed_ && project.commit.empty() && has_commit_of_user(resumed_->machine)) {
    report_.machine.commit = resumed_->machine.commit;
    report_.machine.dirty.reset();
    report_.machine.commit_subject = resumed_->machine.commit_subject;
    report_.machine.commit_author = resumed_->machine.commit_author;
  }
  if (project.commit.empty()) return;
  const auto known = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  report_.machine.commit = project.commit;
  report_.machine.dirty.reset();
  report_.machine.commit_subject = known(project.commit_subject);
  report_.machine.commit_author = known(project.commit_author);
}

void ReportBuilder::plan(const Scenario& scenario, const std::vector<CaseSpec>& specs,
                         const SamplerOptions& sampling) {
  for (const CaseSpec& spec : specs) {
    const report::CaseResult* known =
        find_measured(resumed_ ? &resumed_->cases : nullptr, spec.name());
    report_.cases.push_back(known != nullptr ? *known : described(spec));
  }
  report_.sampling.push_back(described(scenario.name(), sampling));
  std::ranges::move(roles_of(scenario), std::back_inserter(report_.roles));
  for (auto& note : scenario.model_notes(specs)) {
    if (std::ranges::find(report_.model_notes, note) == report_.model_notes.end()) {
      report_.model_notes.push_back(std::move(note));
    }
  }
  if (!published_settings_) return;
  std::ranges::move(published_beside(scenario, specs), std::back_inserter(report_.published));
}

void ReportBuilder::add_devices(const Scenario& scenario,
                                const std::vector<std::unique_ptr<Device>>& devices,
                                const Device* whole) {
  const std::string name(scenario.name());
  std::vector<std::string> names;
  const auto add = [&](const Device& device) {
    names.push_back(device.info().name);
    report_.devices.push_back(described(device.info()));
    report_.devices.back().scenario = name;
  };
  for (const auto& device : devices) add(*device);
  if (whole != nullptr) {
    add(*whole);
    names.pop_back();
    report_.devices.back().combines = std::move(names);
  }
  for (const DeviceLink& link : links_of(devices)) {
    report_.links.push_back({name, link.from, link.to, link.kind});
  }
}

std::vector<std::string> ReportBuilder::add_peaks(const report::PeakCache& cache) {
  std::vector<std::string> problems;
  std::map<std::filesystem::path, std::vector<report::Peak>> known;
  for (report::Device& device : report_.devices) {
    const report::Fingerprint alone = report::fingerprint(report_.machine, device);
    const auto [found, is_new] = known.try_emplace(cache.file_of(alone));
    try {
      if (is_new) found->second = cache.find(alone);
    } catch (const UsageError& error) {
      problems.emplace_back(error.what());
    }
    device.peaks = found->second;
  }
  return problems;
}

void ReportBuilder::update(const Scenario& scenario, const SessionResult& result) {
  for (const report::CaseResult& known : result.cases) {
    const auto found = std::ranges::find(report_.cases, known.name, &report::CaseResult::name);
    if (found != report_.cases.end()) *found = known;
  }
  const std::string name(scenario.name());
  if (result.answer) {
    std::erase_if(report_.answers, [&](const auto& answer) { return answer.scenario == name; });
    report_.answers.push_back(*result.answer);
  }
  times_[name] = result.times;
}

void ReportBuilder::add_library(std::string name, std::string text) {
  report_.machine.libraries.emplace_back(std::move(name), std::move(text));
}

void ReportBuilder::add_process(report::Process process, const PhaseTimes& times) {
  report_.processes.push_back(std::move(process));
  process_times_ += times;
}

void ReportBuilder::refresh(bool complete) {
  report_.complete = complete;
  set_duration();
  PhaseTimes all = process_times_;
  for (const auto& [scenario, times] : times_) all += times;
  report_.preparation_seconds = all.preparation;
  report_.verification_seconds = all.verification;
  report_.sampling_seconds = all.sampling;
  report_.task_cost_seconds = all.task_costs;
  report_.profiling_seconds = all.profiling;
  report::find_reasons(report_);
}

/// Sets the duration and the share that a CPU quota withheld, with earlier parts of a resumed run.
void ReportBuilder::set_duration() {
  const double now = steady_seconds() - begin_;
  const double earlier = resumed_ ? resumed_->duration_seconds : 0;
  const double lost_now = withheld_share(begin_core_times_, quota_.read()).value_or(0);
  const double lost_earlier = resumed_ ? resumed_->quota_lost : 0;
  report_.duration_seconds = now + earlier;
  if (report_.duration_seconds <= 0) return;
  report_.quota_lost = (lost_now * now + lost_earlier * earlier) / report_.duration_seconds;
}

void ReportBuilder::write() const { report::write_report(path_, report_); }

void ReportBuilder::write_elsewhere() {
  const std::filesystem::path path =
      report::claim_file(std::filesystem::temp_directory_path() / path_.filename());
  try {
    report::write_report(path, report_);
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    throw;
  }
  path_ = path;
}

}  // namespace parbench
