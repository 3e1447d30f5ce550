// The command line: from argv to Options.
#pragma once

#include <string>
#include <vector>

#include "bench/flags.h"
#include "bench/options.h"

namespace parbench {

/// Parses `arguments` (the program's name first). Reads the files that `--config` and `--rerun`
/// name. Throws UsageError whose message names the flag, the value and what is allowed; lines after
/// the first are hints.
[[nodiscard]] Options parse_command_line(const std::vector<std::string>& arguments,
                                         const ScenarioList& scenarios);

/// The page that `--help` prints: of a command its own, else that of the program.
[[nodiscard]] std::string help_text(const ScenarioList& scenarios, Command topic = Command::run);

}  // namespace parbench
