// What the help page of each command ends with.
#pragma once

#include <string>

#include "bench/options.h"

namespace parbench {

/// Examples of the command, where there is something to show, and what its exit codes mean.
[[nodiscard]] std::string command_footer(Command command);

}  // namespace parbench
