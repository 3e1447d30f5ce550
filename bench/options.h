// The command line, resolved: what `parbench` was asked to do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/tensor.h"

namespace parbench {

enum class Command {
  run,
  list,
  devices,
  peaks,
  show,
  export_report,
  html,
  compare,
  ab,
  dashboard,
  help,
  version
};

/// Everything a run depends on. Axis values are still text here: they are parsed against the axes
/// of the chosen scenarios when the sweep is expanded.
struct Options {
  Command command = Command::run;
  Command help_topic = Command::run;  // of Command::help: what the page is about

  std::vector<std::string> scenarios;   // never empty for Command::run
  std::vector<std::string> strategies;  // empty: all
  std::string preset = "quick";         // or "seed"
  std::string devices;                  // as given; empty: the scenario's default
  NumberFormat format;                  // --dtype
  bool format_given = false;
  bool graph = false;                                    // every case is captured and replayed
  std::map<std::string, std::vector<std::string>> axes;  // --split 1,3 → {"split", {"1", "3"}}

  double precision_percent = 1.0;  // half-width of the median's 95% interval, of the median
  bool precision_given = false;
  std::optional<int> min_samples;          // default of the sampler or of the preset
  std::optional<double> max_time_seconds;  // of one case; of ab, of all pairs
  std::uint64_t seed = 1;
  int launches = 1;           // processes over which the samples are spread
  std::optional<int> launch;  // which of them this is; none: no process of another run

  /// Reports: one of show and export, at least one of html, BASE and NEW of compare. The folder of
  /// dashboard.
  std::vector<std::string> input_paths;
  std::string export_format;  // of export, compare and ab
  std::string output_path;    // of these, html and dashboard; empty: standard output
  double threshold = 0.02;    // of comparisons: the least change that counts, of the time
  bool allow_different_machine = false;  // of comparisons
  std::string base_command;              // of ab: A
  std::string now_command;               // of ab: B
  std::string keep_path;                 // of ab: the folder for all reports; empty: none
  bool strict = false;                   // of dashboard: a skipped file is a failure
  bool calls = false;                    // of show: the calls of each case instead of the cases
  bool refresh = false;                  // of peaks: measured although they are known

  std::string config_path;  // as given; empty: none
  std::string rerun_path;
  std::string report_path;  // empty: reports/runs/<UTC time>-<scenario>.json
  bool dry_run = false;
  bool quiet = false;
  bool autotune = false;    // kernels chosen by measuring
  bool profile = false;     // a few samples between the profilers' start and stop
  bool no_profile = false;  // no look at the timeline of each case
  std::string trace_path;   // of the timelines; empty: none

  /// Exact case names to run, from `--rerun`; empty: the whole sweep.
  std::vector<std::string> only_cases;
  std::vector<std::string> benchmark_flags;  // --benchmark_*, passed to Google Benchmark
  std::vector<std::string> command_line;     // argv as given
};

}  // namespace parbench
