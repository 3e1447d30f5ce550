// Typed options of a run, and their flags.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/flag.h"
#include "bench/cli/project_options.h"
#include "kernels/base/tensor.h"
#include "scenarios/framework/scenario.h"

namespace parbench::report {
struct Report;
}

namespace parbench {

/// The devices that a run opens, and the capabilities they need.
struct DeviceRequest {
  std::string devices;  // as given; empty: the scenario's default
  NumberFormat format;
  bool autotune = false;         // choose kernels by measuring
  bool round_gradients = false;  // DeviceOptions::round_gradients
  bool measures = true;          // false in a dry run
  bool oversubscribe = false;    // allow more devices than cores, which then share cores
};

/// A case of a report that is measured again, under its name in that report.
struct RerunCase {
  std::string name;
  CaseSpec spec;
  std::string cut = {};  // layers at which its later stages began (report::cut_of)
};

/// All options that a run depends on.
struct RunOptions {
  std::vector<const Scenario*> scenarios;
  std::vector<std::string> strategies;  // empty: all
  Preset preset = Preset::quick;
  std::string devices;  // as given; empty: the scenario's default
  NumberFormat format;
  bool graph = false;            // capture and replay every case
  bool autotune = false;         // choose kernels by measuring
  bool round_gradients = false;  // DeviceOptions::round_gradients
  bool oversubscribe = false;    // allow more devices than cores, which then share cores
  AxisValues axes;

  /// Half-width of the median's 95% interval, in percent of the median; default: 1.
  std::optional<double> precision_percent;
  std::optional<int> min_samples;
  std::optional<double> max_time_seconds;        // time limit of each case
  std::optional<double> max_total_time_seconds;  // time limit of the run
  std::uint64_t seed = 1;
  int processes = 1;           // number of processes that share the samples
  std::optional<int> process;  // index of this process; empty: not part of another run

  std::string config_path;
  std::string rerun_path;
  std::string resume_path;
  std::string report_path;               // empty: reports/runs/<UTC time>-<scenario>.json
  std::string trace_path;                // file of the timelines; empty: no file
  std::vector<std::string> trace_cases;  // parts of case names; empty: all cases
  bool dry_run = false;
  bool quiet = false;
  bool allow_different_ranks = false;  // processors and instruction sets may differ
  std::optional<int> width;            // columns of tables and text
  bool for_profiler = false;           // take a few samples between the profilers' start and stop
  bool no_timeline = false;            // skip the profiling pass
  ProjectOptions project;              // facts about the measured project for the report

  /// Cases of the report of --rerun or --resume; empty: all cases of the sweep.
  std::vector<RerunCase> cases;
  std::shared_ptr<const report::Report> resumed;  // report of --resume; null for a new run
  std::vector<std::string> benchmark_flags;       // --benchmark_* flags, unparsed
  std::vector<std::string> command_line;          // argv as given

  [[nodiscard]] bool chooses(std::string_view strategy) const;
  /// Returns whether the run has a profiling pass; an external profiler makes it unnecessary.
  [[nodiscard]] bool has_profiling_pass() const { return !for_profiler && !no_timeline; }
  [[nodiscard]] DeviceRequest device_request() const {
    return {devices, format, autotune, round_gradients, !dry_run, oversubscribe};
  }
};

/// Returns the flags of a run, bound to `options`: the fixed ones, then one for each axis. An axis
/// of several scenarios is one flag.
[[nodiscard]] std::vector<FlagRow> run_flags(RunOptions& options, const ScenarioList& scenarios);

/// Reads the flags of a run and the files of --config, --rerun and --resume. Throws UsageError; its
/// message names the flag, the value and what is allowed; lines after the first are hints.
[[nodiscard]] RunOptions read_run_options(FlagTexts texts, std::vector<std::string> benchmark_flags,
                                          const ScenarioList& scenarios);

/// Returns the names and typed values of the flags that give these options, for the report.
[[nodiscard]] std::vector<Parameter> flags_from(const RunOptions& options);

}  // namespace parbench
