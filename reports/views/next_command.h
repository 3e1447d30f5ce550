// The command that continues a run whose answers leave something open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

struct NextCommand {
  std::string purpose;                     // "to distinguish split 12 and split 5"
  std::vector<std::string> arguments;      // behind the program's name
  std::vector<std::string> launcher = {};  // ahead of it: "taskset", "-c", "0"
};

/// Returns one command for all scenarios of the report at `path`: --resume where the time of the
/// run was over for cases that are missing, have few samples or cannot be distinguished, else
/// --rerun of the recommended cases that cannot be distinguished from others. Nothing where the
/// answers leave nothing open, for runs over ranks, whose launcher is not known, for those of a
/// profiler, and for reports that another program has measured.
[[nodiscard]] std::optional<NextCommand> next_command(const Report& report,
                                                      const std::string& path);

}  // namespace parbench::report
