// Flags from files: `--config`, `--rerun` and `--resume`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/run_options.h"
#include "kernels/base/error.h"

namespace parbench {

/// Reads a JSON object {flag: value or list of values}. Values are strings, numbers or, for
/// toggles, true and false. Throws UsageError, with the file and the key, for anything else.
[[nodiscard]] FlagTexts read_config(const std::string& path, const std::vector<FlagRow>& known);

/// Calls `work`, which reads or checks the file of a flag, and prefixes `flag` to the message of
/// its UsageError.
template <typename Work>
auto naming_flag(std::string_view flag, Work&& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    throw UsageError(std::string(flag) + error.what());
  }
}

/// Throws UsageError if the run would overwrite a file that it reads, or write two results to one
/// file.
void check_files_differ(const RunOptions& options, const std::string& benchmark_out);

/// The run that a report records.
struct Rerun {
  std::shared_ptr<const report::Report> report;
  FlagTexts flags;               // flags of the measurement, except those that select cases
  std::vector<RerunCase> cases;  // in the report's order
  std::vector<const Scenario*> scenarios;    // scenarios of the cases
  std::vector<std::string> benchmark_flags;  // --benchmark_repetitions and _min_time
};

/// Reads the report that `flag` names. Throws UsageError, with the file, if it is not a report that
/// a run of parbench wrote in this schema version, has no cases, or has cases of unknown scenarios
/// or with values that their axes do not allow.
[[nodiscard]] Rerun read_rerun(std::string_view flag, const std::string& path,
                               const std::vector<FlagRow>& known, const ScenarioList& scenarios);

/// Throws UsageError if a run cannot continue from the report of --resume: it is complete, or its
/// samples were taken by several processes or under a profiler.
void check_resumable(const std::string& path, const report::Report& report);

}  // namespace parbench
