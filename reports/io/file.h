// Report files: written atomically, read as untrusted.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "reports/io/bounded_json.h"
#include "reports/io/json.h"

namespace parbench::report {

/// Checks before a run that `write_file` will be able to write a file. Creates a missing directory
/// if it is `default_directory` or inside it. Does not change an existing file. Throws UsageError
/// with the path, the reason and the remedy; callers may add the flag with the path.
void check_writable(const std::filesystem::path& path,
                    const std::filesystem::path& default_directory = "reports/runs");

/// Claims an unused name in an existing directory: `path`, or the first of path-2, path-3 and so on
/// (before the extension). Creates an empty file, so that two programs never claim the same name.
/// Throws Error.
[[nodiscard]] std::filesystem::path claim_file(const std::filesystem::path& path);

/// Returns whether two paths lead to the same file after resolving symbolic links.
[[nodiscard]] bool is_same_file(const std::filesystem::path& one,
                                const std::filesystem::path& other);

/// Whether new content must survive a power failure; flushing it takes milliseconds.
enum class Durability { flushed, unflushed };

/// Writes a file atomically: readers see the old or the new content, because a temporary file
/// replaces the old one. Follows symbolic links. Throws Error with the path and the system's
/// message; then the old file is unchanged and no temporary file is left.
void write_file(const std::filesystem::path& path, std::string_view text,
                Durability durability = Durability::flushed);

/// Function that writes the text of a file in parts, for text that is too long for memory.
using WriteText = std::function<void(std::ostream& out)>;
void write_file(const std::filesystem::path& path, const WriteText& write,
                Durability durability = Durability::flushed);

/// Returns whether a path leads to a pipe or a device such as a terminal, which cannot be replaced
/// and whose reader sees text as it is written.
[[nodiscard]] bool is_special_file(const std::filesystem::path& path);

/// Writes to a special file. Throws Error as `write_file` does.
void write_special_file(const std::filesystem::path& path, std::string_view text);

/// Writes a report to a file as JSON (`to_json`).
void write_report(const std::filesystem::path& path, const Report& report);

/// Returns the limits for reports: the defaults of ReadLimits, or PARBENCH_MAX_REPORT_MB megabytes
/// and values in proportion. Throws UsageError if the variable is not an integer from 1 to
/// 1,000,000.
[[nodiscard]] ReadLimits report_limits();

/// Reads any JSON file: a report, a configuration. Throws UsageError with the file's name, the
/// problem (missing, not a regular file, empty, too large, or as in `parse_bounded`) and the
/// remedy.
[[nodiscard]] Json read_json(const std::filesystem::path& path,
                             const ReadLimits& limits = report_limits());

/// Returns the report of a file, converted if another program wrote it (report_text.h). Skips the
/// part for readers of Google Benchmark's format, so that it takes no memory. Throws UsageError as
/// `read_json`, `from_json` and `from_google_benchmark` do.
[[nodiscard]] Report read_report(const std::filesystem::path& path,
                                 const ReadLimits& limits = report_limits());

/// Do what `read_report` does in two calls, for callers that also need the text. Both throw
/// UsageError as `read_report` does, the second one without the file's name.
[[nodiscard]] std::string read_text(const std::filesystem::path& path,
                                    const ReadLimits& limits = report_limits());
[[nodiscard]] Report report_of_text(std::string text, const ReadLimits& limits = report_limits());

}  // namespace parbench::report
