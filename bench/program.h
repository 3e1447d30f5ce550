// The program that `main` runs, which other programs run with their own scenarios.
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
