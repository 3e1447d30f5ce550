// Flags that come from files: `--config` and `--rerun`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/flags.h"
#include "kernels/error.h"

namespace parbench {

/// Reads an object {flag: value or list of values}; values are strings, numbers or, for toggles,
/// true and false. Throws UsageError that names the file and the key for everything else.
[[nodiscard]] FlagValues read_config(const std::string& path, const std::vector<Flag>& known);

/// Does something with a file that a flag names; a UsageError about the file gets `flag` in front.
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
void check_files_differ(const Options& options, const std::string& benchmark_out);

/// What a report says about the run that wrote it.
struct Rerun {
  FlagValues flags;                // how it was measured; neither scenario, strategy nor axes
  std::vector<std::string> cases;  // names, in their order
  std::vector<std::string> benchmark_flags;  // of Google Benchmark, as it was measured with
};

/// Throws UsageError that names the file when it is not a report of this schema version, has no
/// cases, or has cases of scenarios that do not exist.
[[nodiscard]] Rerun read_rerun(const std::string& path, const ScenarioList& scenarios);

}  // namespace parbench
