// Report files: written whole or not at all, read with suspicion.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "reports/io/bounded_json.h"
#include "reports/io/json.h"

namespace parbench::report {

/// Checks before a run what would otherwise fail after it: that `write_file` can put a file there.
/// A missing directory is made if it is `default_directory` or lies in it. An existing file stays
/// as it is. Throws UsageError that names the path, the reason and the remedy; a caller may put the
/// flag that the path comes from in front.
void check_writable(const std::filesystem::path& path,
                    const std::filesystem::path& default_directory = "reports/runs");

/// Takes a name that no file has yet, in a directory that exists: `path`, or the first of path-2,
/// path-3 and so on (before the extension). An empty file holds the name, so that two programs
/// never take the same. Throws Error.
[[nodiscard]] std::filesystem::path claim_file(const std::filesystem::path& path);

/// Whether writing one would replace the other: the same file, whatever links lead to it.
[[nodiscard]] bool is_same_file(const std::filesystem::path& one,
                                const std::filesystem::path& other);

/// Whether a file has to survive a power cut, which takes milliseconds, or can be made again.
enum class Durability { flushed, unflushed };

/// Writes a file so that a reader sees the old content or the new one, never a part: a temporary
/// file beside it takes its place. A symbolic link is followed. Throws Error that names the path
/// and the system's words; then the old file is untouched and nothing else is left.
void write_file(const std::filesystem::path& path, std::string_view text,
                Durability durability = Durability::flushed);

/// The same of a text that is too long to be held in memory as a whole.
using WriteText = std::function<void(std::ostream& out)>;
void write_file(const std::filesystem::path& path, const WriteText& write,
                Durability durability = Durability::flushed);

/// Whether a path leads to a pipe, or to a device such as a terminal: nothing can take its place,
/// and its reader sees what is written as it is written.
[[nodiscard]] bool is_special_file(const std::filesystem::path& path);

/// Writes to one. Throws Error as `write_file` does.
void write_special_file(const std::filesystem::path& path, std::string_view text);

/// `to_json` to a file.
void write_report(const std::filesystem::path& path, const Report& report);

/// The limits of a report: those of ReadLimits, or as many MB as PARBENCH_MAX_REPORT_MB says, and
/// as many values as such a file can hold. Throws UsageError when that is no number.
[[nodiscard]] ReadLimits report_limits();

/// Any JSON file: a report, a configuration. Throws UsageError with the file's name, what is wrong
/// (missing, not a regular file, empty, too large, or as `parse_bounded` says) and the remedy.
[[nodiscard]] Json read_json(const std::filesystem::path& path,
                             const ReadLimits& limits = report_limits());

/// The report in a file, or what was made of the file of another program (report_text.h). The part
/// of a report for Google Benchmark's readers, which follows from it, takes no memory. Throws
/// UsageError as `read_json`, `from_json` and `from_google_benchmark` do.
[[nodiscard]] Report read_report(const std::filesystem::path& path,
                                 const ReadLimits& limits = report_limits());

/// The same in two steps, for callers that need the bytes as well. Both throw UsageError as
/// `read_report` does, the second one without a name.
[[nodiscard]] std::string read_text(const std::filesystem::path& path,
                                    const ReadLimits& limits = report_limits());
[[nodiscard]] Report report_of_text(std::string text, const ReadLimits& limits = report_limits());

}  // namespace parbench::report
