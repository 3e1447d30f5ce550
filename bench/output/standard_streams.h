// Standard output and error of the program. They may be closed, full or a pipe without a reader;
// this must not end a measurement, but must be reported.
#pragma once

#include <string>
#include <string_view>

#include "kernels/base/error.h"

namespace parbench {

/// Call this first in the process. Writing to a pipe without a reader then fails instead of ending
/// the process by a signal, and files opened later cannot take the descriptor of a closed standard
/// stream.
void prepare_standard_streams();

/// Writes to standard output. `require_printed` reports failures.
void print(std::string_view text);

/// Thrown if the reader of standard output, a pipe or socket, closed it early, as `head` does.
class ReaderGone : public Error {
 public:
  using Error::Error;
};

/// Throws Error if output since the last call did not reach standard output; ReaderGone if the
/// reader closed it.
void require_printed();

/// Returns the value of COLUMNS, or the width of the terminal of a descriptor; 80 if neither is
/// known.
[[nodiscard]] int terminal_columns(int descriptor);

/// Returns whether a descriptor is a terminal with a movable cursor: TERM is set and not "dumb".
[[nodiscard]] bool is_full_terminal(int descriptor);

/// Moves the cursor of such a terminal to the start of its line, which it empties.
inline constexpr const char* erase_line = "\r\x1b[K";

/// Returns whether a descriptor is such a terminal and may have colors: NO_COLOR is unset or empty.
[[nodiscard]] bool takes_color(int descriptor);

/// Prefixes the errors of this process with a name, if it is one of several. Call it before threads
/// exist.
void name_errors(std::string name);

/// Writes "parbench: error: …" to standard error; lines after the first are hints, indented.
/// Escapes control characters, which names in files may contain. Never fails.
void print_error(std::string_view message) noexcept;

}  // namespace parbench
