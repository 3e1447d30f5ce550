// Flags that come from files: `--config` and `--rerun`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/run_options.h"
#include "kernels/base/error.h"

namespace parbench {

/// Reads an object {flag: value or list of values}; values are strings, numbers or, for toggles,
/// true and false. Throws UsageError that names the file and the key for everything else.
[[nodiscard]] FlagTexts read_config(const std::string& path, const std::vector<FlagRow>& known);

/// Calls `work` with a file that a flag names; puts `flag` in front of a UsageError about the file.
template <typename Work>
auto naming_flag(std::string_view flag, Work&& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    throw UsageError(std::string(flag) + error.what());
  }
}

/// Throws UsageError when the run would write over a file that it reads, or two results to one
/// file.
void check_files_differ(const RunOptions& options, const std::string& benchmark_out);

/// What a report says about the run that wrote it.
struct Rerun {
  std::shared_ptr<const report::Report> report;
  FlagTexts flags;               // how it was measured; neither scenario, strategy nor axes
  std::vector<RerunCase> cases;  // in their order
  std::vector<const Scenario*> scenarios;    // of the cases
  std::vector<std::string> benchmark_flags;  // of Google Benchmark, as it was measured with
};

/// Reads the report that `flag` names. Throws UsageError that names the file when it is not a
/// report of this schema version, has no cases, or has cases of scenarios that do not exist or with
/// values that their axes do not take.
[[nodiscard]] Rerun read_rerun(std::string_view flag, const std::string& path,
                               const std::vector<FlagRow>& known, const ScenarioList& scenarios);

/// Throws UsageError where no run can go on from the report of --resume: nothing is left to do, or
/// its samples are those of several processes or of a profiler's run.
void check_resumable(const std::string& path, const report::Report& report);

}  // namespace parbench
