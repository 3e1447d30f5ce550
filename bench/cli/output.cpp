#include "bench/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "bench/cli/flag_files.h"
#include "bench/output/standard_streams.h"
#include "kernels/base/error.h"
#include "reports/io/file.h"
#include "reports/views/next_command.h"

namespace parbench {
namespace {

/// Columns needed for medians and speedups with their intervals.
constexpr int min_width = 60;

/// Quotes a word for a POSIX shell if necessary.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

/// Returns the path of the launcher script, which sets PARBENCH_HOME to its folder; `program` if
/// that is not set.
std::string launcher_or(const std::string& program) {
  const char* home = std::getenv("PARBENCH_HOME");  // NOLINT(concurrency-mt-unsafe)
  if (home == nullptr || *home == '\0') return program;
  std::error_code error;
  const bool is_here = std::filesystem::equivalent(home, ".", error);
  return is_here ? "./parbench" : (std::filesystem::path(home) / "parbench").string();
}

}  // namespace

bool is_standard_output(std::string_view path) {
  constexpr std::array<std::string_view, 5> names{"", "-", "/dev/stdout", "/dev/fd/1",
                                                  "/proc/self/fd/1"};
  return std::ranges::find(names, path) != names.end();
}

report::TextStyle text_style(std::optional<int> width, std::string_view path) {
  constexpr int no_terminal = -1;
  const int descriptor = is_standard_output(path) ? STDOUT_FILENO : no_terminal;
  const int columns = width.value_or(terminal_columns(descriptor));
  return {.width = static_cast<std::size_t>(std::max(columns, min_width)),
          .color = takes_color(descriptor)};
}

FlagRow width_flag(std::optional<int>& width) {
  return number_flag("width",
                     "Width of tables and text in columns; default: $COLUMNS, else the "
                     "terminal's width, else 80",
                     AxisKind::integer, min_width, 10'000, "COLUMNS", &width);
}

std::string report_line(const std::string& path) { return fmt::format("report: {}\n", path); }

std::string next_command_lines(const report::Report& report, const std::string& path,
                               const std::string& program) {
  const auto next = report::next_command(report, path);
  if (!next) return {};
  std::string line;
  for (const std::string& word : next->launcher) line += quoted(word) + ' ';
  line += quoted(launcher_or(program));
  for (const std::string& argument : next->arguments) line += ' ' + quoted(argument);
  return fmt::format("next, {}:\n  {}\n", next->purpose, line);
}

FlagRow report_argument(std::string& path) {
  return required(text_flag("REPORT", "The JSON file that a run has written", "", &path));
}

FlagRow output_flag(std::string& path) {
  return text_flag("-o", "The file to write; default: standard output", "FILE", &path);
}

void check_output(const std::string& path, const std::vector<std::string>& inputs) {
  if (is_standard_output(path)) return;
  for (const std::string& input : inputs) {
    if (!report::is_same_file(path, input)) continue;
    throw UsageError(
        fmt::format("-o '{}' is a report, which it would overwrite; choose another path", path));
  }
  if (report::is_special_file(path)) return;  // /dev/stderr, a pipe
  naming_flag("-o ", [&] { report::check_writable(path); });
}

void write_output(const std::string& text, const std::string& path) {
  if (is_standard_output(path)) {
    print(text);
  } else if (report::is_special_file(path)) {
    report::write_special_file(path, text);
  } else {
    report::write_file(path, text);
  }
}

}  // namespace parbench
