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

/// Returns one command for all scenarios of the report at `path`, by the first of these conditions:
/// - Other programs disturbed an answer: --rerun.
/// - Cases are missing, the run's end left a case with few samples, or all cases of a tie are
///   unfinished: --resume. A run in several processes cannot be resumed: --rerun if cases are
///   missing.
/// - More samples can distinguish a recommended case from others: --rerun of these cases.
/// - Answers are preliminary for lack of processes: --rerun with more processes.
/// Nothing if the answers are complete, for runs over ranks (their launcher is unknown), for runs
/// for a profiler, and for reports of other programs.
[[nodiscard]] std::optional<NextCommand> next_command(const Report& report,
                                                      const std::string& path);

}  // namespace parbench::report
