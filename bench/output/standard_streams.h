// Standard output and error of the program, which may be closed, full or a pipe without a reader:
// that must not end a measurement, and it must not go unnoticed either.
#pragma once

#include <string>
#include <string_view>

#include "kernels/base/error.h"

namespace parbench {

/// To be called first in the process. A pipe without reader becomes an error of the write instead
/// of a signal that ends the process, and no file that is opened later can take the place of a
/// standard stream that was closed.
void prepare_standard_streams();

/// Writes to standard output. Failures are kept for `require_printed`.
void print(std::string_view text);

/// Standard output is a pipe or socket whose reader went before it had everything, as `head` does.
class ReaderGone : public Error {
 public:
  using Error::Error;
};

/// Throws Error when something printed since the last call did not reach standard output;
/// ReaderGone where that is why.
void require_printed();

/// Returns the value of COLUMNS, or the columns of the terminal behind a descriptor; 80 where
/// neither is known.
[[nodiscard]] int terminal_columns(int descriptor);

/// Whether a descriptor is a terminal that moves its cursor: TERM is set, and not to "dumb".
[[nodiscard]] bool is_full_terminal(int descriptor);

/// Whether it also may have colors: NO_COLOR is not set, or empty.
[[nodiscard]] bool takes_color(int descriptor);

/// Begins the errors of this process with a name, where it is one of several. Call it before there
/// are threads.
void name_errors(std::string name);

/// "parbench: error: …" on standard error; lines after the first are hints, indented. Control
/// characters, which names in files may hold, do not reach the terminal. Never fails.
void print_error(std::string_view message) noexcept;

}  // namespace parbench
