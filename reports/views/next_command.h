// The command that continues a run whose answers are incomplete.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

struct NextCommand {
  std::string purpose;                     // "to distinguish split 12 and split 5"
  std::vector<std::string> arguments;      // arguments after the program's name
  std::vector<std::string> launcher = {};  // words before the program's name: "taskset", "-c", "0"
};

/// Returns one command for all scenarios of the report at `path`. --rerun if other programs
/// disturbed the answers; else --resume if cases are missing, have few samples, or were cut short
/// and cannot be distinguished; else --rerun of the recommended cases that cannot be distinguished
/// from others, or with more processes. A run in several processes cannot be resumed and is
/// repeated instead. Nothing if the answers are complete, for runs over ranks (their launcher is
/// unknown), for runs for a profiler, and for reports of other programs.
[[nodiscard]] std::optional<NextCommand> next_command(const Report& report,
                                                      const std::string& path);

}  // namespace parbench::report
