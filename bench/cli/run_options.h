// The options of a run, typed, and their flags.
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

/// Which devices a run opens, and what they have to be capable of.
struct DeviceRequest {
  std::string devices;  // as given; empty: the scenario's default
  NumberFormat format;
  bool autotune = false;       // kernels are chosen by measuring
  bool measures = true;        // false in a dry run, which measures nothing
  bool oversubscribe = false;  // more devices than cores share them
};

/// A case of a report that is to be measured again, under the name that it has there.
struct RerunCase {
  std::string name;
  CaseSpec spec;
  std::string cut = {};  // where its stages began (report::cut_of)
};

/// Everything that a run depends on.
struct RunOptions {
  std::vector<const Scenario*> scenarios;
  std::vector<std::string> strategies;  // empty: all
  Preset preset = Preset::quick;
  std::string devices;  // as given; empty: the scenario's default
  NumberFormat format;
  bool graph = false;          // every case is captured and replayed
  bool autotune = false;       // kernels are chosen by measuring
  bool oversubscribe = false;  // more devices than cores share them
  AxisValues axes;

  /// Half-width of the median's 95% interval, in percent of the median; default: 1.
  std::optional<double> precision_percent;
  std::optional<int> min_samples;
  std::optional<double> max_time_seconds;        // of one case
  std::optional<double> max_total_time_seconds;  // of the whole run
  std::uint64_t seed = 1;
  int processes = 1;           // over which the samples are spread
  std::optional<int> process;  // which of them this one is; none: it is not part of another run

  std::string config_path;
  std::string rerun_path;
  std::string resume_path;
  std::string report_path;               // empty: reports/runs/<UTC time>-<scenario>.json
  std::string trace_path;                // of the timelines; empty: none
  std::vector<std::string> trace_cases;  // parts of their names; empty: all
  std::string remark;                    // kept by the report
  bool dry_run = false;
  bool quiet = false;
  bool allow_different_ranks = false;  // processors and instruction sets
  std::optional<int> width;            // columns of tables and text
  bool for_profiler = false;           // a few samples between the profilers' start and stop
  bool no_timeline = false;            // no profiling pass
  ProjectOptions project;              // what the report says of the project that is measured

  /// The cases of --rerun as its report has them; empty: the whole sweep.
  std::vector<RerunCase> cases;
  std::shared_ptr<const report::Report> resumed;  // the report of --resume; none: a new run
  std::vector<std::string> benchmark_flags;       // --benchmark_*, passed to Google Benchmark
  std::vector<std::string> command_line;          // argv as given

  /// Whether the run has the cases of a strategy.
  [[nodiscard]] bool chooses(std::string_view strategy) const;
  /// Whether the run has a profiling pass; an external profiler does that itself.
  [[nodiscard]] bool has_profiling_pass() const { return !for_profiler && !no_timeline; }
  [[nodiscard]] DeviceRequest device_request() const {
    return {devices, format, autotune, !dry_run, oversubscribe};
  }
};

/// Returns the flags of a run, bound to `options`: the fixed ones, then one for each axis of the
/// scenarios; an axis that several scenarios have is one flag.
[[nodiscard]] std::vector<FlagRow> run_flags(RunOptions& options, const ScenarioList& scenarios);

/// Reads the flags of a run and the files that --config and --rerun name. Throws UsageError whose
/// message names the flag, the value and what is allowed; lines after the first are hints.
[[nodiscard]] RunOptions read_run_options(FlagTexts texts, std::vector<std::string> benchmark_flags,
                                          const ScenarioList& scenarios);

/// Returns the flags that would give these options again, typed: what a report keeps of them.
[[nodiscard]] std::vector<Parameter> flags_from(const RunOptions& options);

}  // namespace parbench
