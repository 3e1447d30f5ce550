// Help pages, derived from the tables of commands and flags.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bench/cli/command.h"

namespace parbench {

/// Returns the page of one command; the page of the default command describes the whole program.
[[nodiscard]] std::string help_page(const CommandList& commands, std::string_view name);

/// Returns the syntax of a command: "parbench export REPORT --format FORMAT [-o FILE]".
[[nodiscard]] std::string usage_of(Command& command);

/// Columns of the help pages, and of the texts of `list` and `devices`.
inline constexpr std::size_t page_width = 80;

/// Breaks text at spaces into lines of at most `width` columns, and then indents the lines after
/// the first by `indent` spaces.
[[nodiscard]] std::string wrap(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace parbench
