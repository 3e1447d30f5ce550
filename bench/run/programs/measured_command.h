// Runs a user's command once and measures it, for `ab`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "reports/model/report.h"

namespace parbench {

enum class Measure {
  report,            // report of parbench, which the command runs
  google_benchmark,  // the JSON file of a program that uses Google Benchmark
  wall,              // wall time
};

/// Returns the names that `measure_of` accepts: "report", "google-benchmark", "wall".
[[nodiscard]] std::vector<std::string> names_of_measures();

/// Returns the measure of that name. Throws UsageError for another name.
[[nodiscard]] Measure measure_of(std::string_view name);

struct MeasuredCommand {
  std::string flag;     // flag that gave the command, for messages: "--a"
  std::string command;  // for the shell
  Measure measure = Measure::report;
};

/// Thrown when a command was stopped at its time limit.
struct CommandTimeout : UsageError {
  using UsageError::UsageError;
};

/// Runs a command and returns its report, the file `path`. The command's output is discarded;
/// errors quote the end of its standard error. With Measure::wall the report has one case with one
/// sample, the wall time including the shell that runs the command. `on_wait` is called at least
/// once a second. Throws CommandTimeout, Interrupted, and UsageError, with the command, if it fails
/// or leaves no report.
[[nodiscard]] report::Report run_command(const MeasuredCommand& measured,
                                         const std::filesystem::path& path, double max_seconds,
                                         const std::function<void()>& on_wait);

}  // namespace parbench
