// Files of -o and the style of standard output.
#include "bench/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "bench/cli/flag_files.h"
#include "bench/output/standard_streams.h"
#include "kernels/base/error.h"
#include "reports/io/file.h"

namespace parbench {

bool is_standard_output(std::string_view path) {
  constexpr std::array<std::string_view, 5> names{"", "-", "/dev/stdout", "/dev/fd/1",
                                                  "/proc/self/fd/1"};
  return std::ranges::find(names, path) != names.end();
}

report::TextStyle text_style() {
  report::TextStyle style;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  style.color = terminal && std::getenv("NO_COLOR") == nullptr;
  if (terminal) {
    const auto columns = static_cast<std::size_t>(terminal_columns(STDOUT_FILENO));
    style.width = std::min(style.width, std::max<std::size_t>(columns, 40));
  }
  return style;
}

std::string report_line(const std::string& path) { return fmt::format("report: {}\n", path); }

FlagRow report_argument(std::string& path) {
  return {.value = text_rule("REPORT", "The JSON file that a run has written"),
          .required = true,
          .target = &path};
}

FlagRow output_flag(std::string& path) {
  return {.value = text_rule("-o", "The file to write; default: standard output"),
          .placeholder = "FILE",
          .target = &path};
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
