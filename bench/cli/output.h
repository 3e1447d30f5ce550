// Output of commands: standard output, or the file of -o.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/flag.h"
#include "reports/views/table.h"

namespace parbench {

/// Returns the style of text for `path` of -o, by default standard output. Its width is the first
/// known of `width`, COLUMNS and the width of the terminal, else 80 columns, and at least 60. The
/// text is colored on a terminal, unless NO_COLOR is set or TERM is unset or "dumb".
[[nodiscard]] report::TextStyle text_style(std::optional<int> width = {},
                                           std::string_view path = {});

[[nodiscard]] FlagRow width_flag(std::optional<int>& width);

/// Returns the line that names the report of a run.
[[nodiscard]] std::string report_line(const std::string& path);

/// Returns the last lines of a run: the command that report::next_command suggests, and its
/// purpose; empty if there is no suggestion. The command names the launcher script if the script
/// has started this process, otherwise `program`, the first word of the command line.
[[nodiscard]] std::string next_command_lines(const report::Report& report, const std::string& path,
                                             const std::string& program);

[[nodiscard]] FlagRow report_argument(std::string& path);

/// Returns the flag -o for an optional file.
[[nodiscard]] FlagRow output_flag(std::string& path);

/// Returns whether a path of -o is a name of standard output. If standard output is a file, opening
/// it by such a name would overwrite its beginning.
[[nodiscard]] bool is_standard_output(std::string_view path);

/// Throws UsageError if a path of -o cannot be written or is one of the inputs. Devices and pipes
/// pass; writing to them reports their errors.
void check_output(const std::string& path, const std::vector<std::string>& inputs);

/// Writes text to the file of -o, or to standard output. Throws Error.
void write_output(const std::string& text, const std::string& path);

}  // namespace parbench
