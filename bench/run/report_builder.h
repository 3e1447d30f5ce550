// Updates the report of a run while it runs, and writes it.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/run_options.h"
#include "bench/execution/clock.h"
#include "bench/sampling/sampler.h"
#include "bench/sampling/session/session.h"
#include "kernels/base/cpu_quota.h"
#include "kernels/machine/machine.h"
#include "reports/io/peak_cache.h"
#include "reports/model/report.h"

namespace parbench {

/// Returns a time as "2026-01-31T12:00:00Z".
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point time);

/// Returns the default folder of reports: reports/runs in the repository that the launcher script
/// names in PARBENCH_HOME, else in the working directory.
[[nodiscard]] std::filesystem::path default_report_directory();

/// Returns a writable path for the report of a run: `--report`, or <UTC time>-<scenarios>.json in
/// the default folder, or the first such name that is free ("…-2.json"). Throws UsageError.
/// `scenario_count`: number of existing scenarios; if all are chosen, the name has "all".
[[nodiscard]] std::filesystem::path provide_report_path(
    const RunOptions& options, std::size_t scenario_count,
    std::chrono::system_clock::time_point started);

/// Returns the parts of the duration of a report's run.
[[nodiscard]] PhaseTimes times_of(const report::Report& report);

class ReportBuilder {
 public:
  /// `begin`: beginning of the run on the steady clock. `quota`: of this process.
  ReportBuilder(std::filesystem::path path, const RunOptions& options, const Machine& machine,
                const BenchmarkFlags& flags, std::chrono::system_clock::time_point started,
                double begin = steady_seconds(), CpuQuota quota = CpuQuota());

  /// Adds a scenario before it runs: its cases as not run, or as an earlier part of the run
  /// measured them, and how they will be sampled; for the published preset also the published
  /// figures.
  void plan(const Scenario& scenario, const std::vector<CaseSpec>& specs,
            const SamplerOptions& sampling);
  /// Adds devices and the links between them. `whole`: the device with the cores of all; may be
  /// null.
  void add_devices(const Scenario& scenario, const std::vector<std::unique_ptr<Device>>& devices,
                   const Device* whole = nullptr);

  /// Adds the peak rates of the devices from the cache. Returns the errors of unreadable files of
  /// the cache; their devices have no peaks.
  [[nodiscard]] std::vector<std::string> add_peaks(const report::PeakCache& cache);

  /// Replaces the results of a scenario. Called at checkpoints and at its end.
  void update(const Scenario& scenario, const SessionResult& result);

  /// Adds a fact that affects the run, beside the libraries of the backends.
  void add_library(std::string name, std::string text);

  /// Adds the next of several processes, and its times.
  void add_process(report::Process process, const PhaseTimes& times);

  /// Updates durations and findings; called at every checkpoint, because a run may end there.
  /// `complete`: all planned cases were measured.
  void refresh(bool complete);

  /// Writes the file. Throws Error.
  void write() const;

  /// Writes the report to a new file of the same or a similar name in the folder for temporary
  /// files, because the run's own path failed. `path` then returns that file. Throws Error.
  void write_elsewhere();

  [[nodiscard]] const report::Report& report() const { return report_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void describe_project(const ProjectOptions& project);
  void set_duration();

  std::filesystem::path path_;
  double begin_;
  bool published_settings_;
  std::shared_ptr<const report::Report> resumed_;  // report of the earlier part; null for a new run
  report::Report report_;
  std::map<std::string, PhaseTimes> times_;  // by scenario
  PhaseTimes process_times_;
  CpuQuota quota_;
  std::vector<CoreTime> begin_core_times_ = quota_.read();
};

}  // namespace parbench
