// A command of a user, run once and measured: what `ab` repeats.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "reports/model/report.h"

namespace parbench {

/// What a run of a command is measured by.
enum class Measure {
  report,            // it runs parbench, which leaves a report
  google_benchmark,  // it runs a program that uses Google Benchmark and leaves its JSON
  wall,              // the time from its start to its end
};

/// Returns the names that `measure_of` knows: "report", "google-benchmark", "wall".
[[nodiscard]] std::vector<std::string> names_of_measures();

/// Throws UsageError for another name.
[[nodiscard]] Measure measure_of(std::string_view name);

struct MeasuredCommand {
  std::string flag;     // that it was given by, for messages: "--a"
  std::string command;  // for the shell
  Measure measure = Measure::report;
};

/// A command that was ended because it took too long.
struct CommandTimeout : UsageError {
  using UsageError::UsageError;
};

/// Runs a command and returns its report, which it leaves at `path`. Its output is dropped; errors
/// quote the end of its standard error. With Measure::wall the report has one case with one sample,
/// the time of the shell included that runs the command. `on_wait` is called at least once a
/// second. Throws CommandTimeout, Interrupted, and UsageError that names the command: where it
/// fails or leaves no report.
[[nodiscard]] report::Report run_command(const MeasuredCommand& measured,
                                         const std::filesystem::path& path, double max_seconds,
                                         const std::function<void()>& on_wait);

}  // namespace parbench
