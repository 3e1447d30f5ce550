// The whole program behind `main`, so that tests can run it with scenarios of their own.
#pragma once

#include <string>
#include <vector>

#include "bench/flags.h"

namespace parbench {

/// `measured` is also that of commands that did what they were asked, such as `show`: they say
/// nothing about the cases of a report.
enum class ExitCode { measured = 0, case_failed = 1, bad_usage = 2, interrupted = 130 };

/// Parses `arguments` (the program's name first), runs what they ask for, prints results to
/// standard output and errors ("parbench: error: …" and hints) to standard error. Throws nothing.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments,
                              const ScenarioList& scenarios);

}  // namespace parbench
