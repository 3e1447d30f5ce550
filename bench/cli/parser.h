// The command line: from argv to a command with its options.
#pragma once

#include <memory>

#include "bench/cli/command.h"

namespace parbench {

/// Returns the command that the program's arguments select, with its options. Throws UsageError;
/// its message names the flag, the value and what is allowed; lines after the first are hints.
[[nodiscard]] std::unique_ptr<Command> parse_command_line(const Program& program,
                                                          CommandList commands);

}  // namespace parbench
