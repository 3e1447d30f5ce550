// Checks what commands other than a run were given.
#include "bench/command_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.h"
#include "reports/io/formats/format.h"
#include "scenarios/suggest.h"

namespace parbench {
namespace {

std::vector<std::string> export_formats() {
  std::vector<std::string> names;
  for (const report::Format& format : report::formats()) names.emplace_back(format.name);
  return names;
}

void check_format(const std::string& name, const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) != known.end()) return;
  throw UsageError(fmt::format("--format '{}' does not exist{}\nthere are: {}", name,
                               did_you_mean(name, known), fmt::join(known, ", ")));
}

/// Those of an option of a command, in the order in which they were given.
std::vector<std::string> own_texts(const FlagValues& own, const std::string& option) {
  const auto found = own.find(option);
  if (found == own.end()) return {};
  for (const std::string& text : found->second) {
    if (text.empty()) throw UsageError(fmt::format("{} '' is empty", option));
    if (text.starts_with("--")) throw UsageError(fmt::format("{} needs a value", option));
  }
  return found->second;
}

/// Of an option that is given once; empty where it is not given.
std::string own_text(const FlagValues& own, const std::string& option) {
  const std::vector<std::string> texts = own_texts(own, option);
  if (texts.size() > 1) {
    throw UsageError(fmt::format("{} was given {} times; give it once", option, texts.size()));
  }
  return texts.empty() ? std::string() : texts.front();
}

/// Names of standard output. Where that is a file, opening it by such a name would begin anew at
/// its first byte.
bool is_standard_output(std::string_view path) {
  constexpr std::array<std::string_view, 4> names{"-", "/dev/stdout", "/dev/fd/1",
                                                  "/proc/self/fd/1"};
  return std::ranges::find(names, path) != names.end();
}

std::string output_path(Command command, const FlagValues& own) {
  std::string path = own_text(own, "-o");
  if (!is_standard_output(path)) return path;
  if (command == Command::dashboard) {
    throw UsageError(fmt::format("-o '{}' is no folder; name one", path));
  }
  return {};
}

/// Those of commands that give verdicts.
void set_comparison_options(Options& options, const FlagValues& own) {
  if (options.export_format.empty()) options.export_format = "table";
  check_format(options.export_format, {"table", "markdown", "json"});
  if (const std::string text = own_text(own, "--threshold"); !text.empty()) {
    options.threshold = threshold_from(text);
  }
  options.allow_different_machine = own.contains("--allow-different-machine");
}

/// What a command has in common with a run is read in the same way.
Options options_as_of_a_run(const FlagValues& own) {
  FlagValues values;
  for (const std::string name : {"devices", "dtype", "max-time", "seed", "quiet"}) {
    const auto texts = own_texts(own, "--" + name);
    if (!texts.empty()) values[name] = texts;
  }
  return options_from(values, {});
}

}  // namespace

Options command_options(Command command, const FlagValues& own) {
  Options options = options_as_of_a_run(own);
  options.command = command;
  options.input_paths = own_texts(own, command == Command::dashboard ? "DIR" : "REPORT");
  options.export_format = own_text(own, "--format");
  options.output_path = output_path(command, own);
  options.strict = own.contains("--strict");
  options.calls = own.contains("--calls");
  options.refresh = own.contains("--refresh");
  if (command == Command::export_report) check_format(options.export_format, export_formats());
  if (command == Command::compare) {
    options.input_paths = {own_text(own, "BASE"), own_text(own, "NEW")};
    set_comparison_options(options, own);
  }
  if (command == Command::ab) {
    options.base_command = own_text(own, "--a");
    options.now_command = own_text(own, "--b");
    options.keep_path = own_text(own, "--keep");
    set_comparison_options(options, own);
  }
  return options;
}

}  // namespace parbench
