// The command-line program without its scenarios. `main` runs it with the built-in scenarios; other
// programs run it with their own.
#pragma once

#include <string>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// Parses `arguments` (the program's name first), runs the command, prints results to standard
/// output and errors ("parbench: error: …" and hints) to standard error. Throws nothing.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments,
                              const ScenarioList& scenarios);

}  // namespace parbench
