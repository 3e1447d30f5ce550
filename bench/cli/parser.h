// The command line: from argv to a command with its options.
#pragma once

#include <memory>

#include "bench/cli/command.h"

namespace parbench {

/// Parses the program's arguments to one of the commands. Throws UsageError; its message names the
/// flag, the value and what is allowed; lines after the first are hints.
[[nodiscard]] std::unique_ptr<Command> parse_command_line(const Program& program,
                                                          CommandList commands);

}  // namespace parbench
