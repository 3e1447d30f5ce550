// Where commands write: standard output, or the file that -o names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/flag.h"
#include "reports/views/table.h"

namespace parbench {

/// Returns the style of text that goes to `path` of -o, by default standard output. It is as wide
/// as `width`, COLUMNS or the terminal of standard output, the first of them that is known, else 80
/// columns, and at least 60. It is colored on a terminal, unless NO_COLOR is set or TERM is "dumb".
[[nodiscard]] report::TextStyle text_style(std::optional<int> width = {},
                                           std::string_view path = {});

/// Returns the flag --width.
[[nodiscard]] FlagRow width_flag(std::optional<int>& width);

/// Returns the line of a run that names its report.
[[nodiscard]] std::string report_line(const std::string& path);

/// Returns the last lines of a run whose answers leave something open: what the next command is
/// for, and the command to be copied. `program`: the first argument of this process, in place of
/// which the launcher is named where it has started this process. Empty where nothing is open.
[[nodiscard]] std::string next_command_lines(const report::Report& report, const std::string& path,
                                             const std::string& program);

/// Returns the argument REPORT of a command that reads one.
[[nodiscard]] FlagRow report_argument(std::string& path);

/// Returns the flag -o, by default for a file that may be left out.
[[nodiscard]] FlagRow output_flag(std::string& path);

/// Whether a path of -o is a name of standard output. Where that is a file, opening it by such a
/// name would begin anew at its first byte.
[[nodiscard]] bool is_standard_output(std::string_view path);

/// Refuses a path of -o that cannot be written, or that is one of the inputs. Devices and pipes may
/// be written; whether one takes what it gets is known only then. Throws UsageError.
void check_output(const std::string& path, const std::vector<std::string>& inputs);

/// Writes text to the file of -o, or to standard output. Throws Error.
void write_output(const std::string& text, const std::string& path);

}  // namespace parbench
