// Describes how programs ended.
#pragma once

#include <string>

namespace parbench::report {

/// Exit codes above this one are 128 plus the number of the signal that ended the program.
inline constexpr int signal_exit_code = 128;

/// Returns "ended with exit code 3" or "was ended by signal 11 (Segmentation fault)".
[[nodiscard]] std::string exit_text(int exit_code);

}  // namespace parbench::report
