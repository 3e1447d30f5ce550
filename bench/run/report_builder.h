// Keeps the report of a run up to date while it goes, and writes it.
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

/// "2026-01-31T12:00:00Z"
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point time);

/// Where reports go by default: reports/runs of the repository that the launcher names in
/// PARBENCH_HOME, else of the working directory.
[[nodiscard]] std::filesystem::path default_report_directory();

/// Where the report of a run goes: `--report`, or <UTC time>-<scenarios>.json in the default
/// directory, or the first such name that no other run has taken ("…-2.json"). The file can be
/// written. Throws UsageError. `scenario_count`: how many there are, for all of them are "all".
[[nodiscard]] std::filesystem::path provide_report_path(
    const RunOptions& options, std::size_t scenario_count,
    std::chrono::system_clock::time_point started);

/// Returns the parts of the duration of a report's run.
[[nodiscard]] PhaseTimes times_of(const report::Report& report);

class ReportBuilder {
 public:
  /// `begin`: when the run began, on the steady clock. `quota`: that of this process.
  ReportBuilder(std::filesystem::path path, const RunOptions& options, const Machine& machine,
                const BenchmarkFlags& flags, std::chrono::system_clock::time_point started,
                double begin = steady_seconds(), CpuQuota quota = CpuQuota());

  /// Before the run: cases that are to be measured stand in the report as not run, or as an earlier
  /// part of the run has measured them, with how they will be sampled and on which devices; with
  /// the published settings also what was published.
  void plan(const Scenario& scenario, const std::vector<CaseSpec>& specs,
            const SamplerOptions& sampling);
  /// With what joins each pair of them.
  /// `whole`: the device with the cores of all others; may be null.
  void add_devices(const Scenario& scenario, const std::vector<std::unique_ptr<Device>>& devices,
                   const Device* whole = nullptr);

  /// The best rates of the devices, as far as the cache has them. Returns what is wrong with files
  /// of the cache, whose devices then have none.
  [[nodiscard]] std::vector<std::string> add_peaks(const report::PeakCache& cache);

  /// Replaces what is known of a scenario. Called at checkpoints and at its end.
  void update(const Scenario& scenario, const SessionResult& result);

  /// Something that the run depends on beside the libraries of the backends.
  void add_library(std::string name, std::string text);

  /// The next process of several, and what it has spent.
  void add_process(report::Process process, const PhaseTimes& times);

  /// Brings durations and reasons up to date: at every checkpoint, because a run may end there.
  /// `complete`: everything planned has been measured.
  void refresh(bool complete);

  /// Writes the file. Throws Error.
  void write() const;

  /// Writes a file of the same name in the folder for temporary files, or of a similar name where
  /// that one exists, for a run whose own place cannot take the report. It is the path from then
  /// on. Throws Error.
  void write_elsewhere();

  [[nodiscard]] const report::Report& report() const { return report_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void describe_project(const ProjectOptions& project);
  void set_duration();

  std::filesystem::path path_;
  double begin_;
  bool published_settings_;
  std::shared_ptr<const report::Report> resumed_;  // of an earlier part of the run; none: nullptr
  report::Report report_;
  std::map<std::string, PhaseTimes> times_;  // of each scenario
  PhaseTimes process_times_;
  CpuQuota quota_;
  std::vector<CoreTime> begin_core_times_ = quota_.read();
};

}  // namespace parbench
