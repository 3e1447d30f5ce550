// How the help page looks: CLI11's structure in this program's layout.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace parbench {

/// Groups of options in two columns, wrapped to 100 columns of a terminal.
class HelpFormatter : public CLI::Formatter {
 public:
  /// Description, usage, commands, then the groups in the order in which their first option was
  /// added, and the footer. Of a command, what it shows and how it is called.
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
};

/// How a command is called: "parbench export REPORT --format FORMAT [-o FILE]".
[[nodiscard]] std::string usage_of(const CLI::App& command);

/// Breaks text at spaces so that no line is longer than `width`; lines after the first are indented
/// by `indent` spaces.
[[nodiscard]] std::string wrap(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace parbench
