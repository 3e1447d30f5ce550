// How programs end, in words.
#pragma once

#include <string>

namespace parbench::report {

/// Exit codes above it are those of programs that a signal has ended.
inline constexpr int signal_exit_code = 128;

/// How a program ended: "ended with exit code 3", "was ended by signal 11 (Segmentation fault)".
[[nodiscard]] std::string exit_text(int exit_code);

}  // namespace parbench::report
