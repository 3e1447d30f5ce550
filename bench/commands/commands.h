#pragma once

#include "bench/cli/command.h"

namespace parbench {

/// Returns all commands in the order of the help page, each with its options at their defaults.
[[nodiscard]] CommandList all_commands(const Program& program);

}  // namespace parbench
