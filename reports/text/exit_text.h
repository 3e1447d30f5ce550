// Describes how programs ended.
#pragma once

#include <string>

namespace parbench::report {

/// Shells report a program that a signal ended with this exit code plus the number of the signal.
inline constexpr int signal_exit_code = 128;

/// Returns "ended with exit code 3" or "was ended by signal 11 (Segmentation fault)".
[[nodiscard]] std::string exit_text(int exit_code);

}  // namespace parbench::report
