// Escapes untrusted text for GitHub's Markdown (github.github.com/gfm), and formats tables.
#pragma once

#include <string>
#include <string_view>

#include "reports/text/table.h"

namespace parbench::report {

/// Returns a code span in which neither markup nor mentions of users have an effect, also within a
/// table's cell. Empty text stays empty.
[[nodiscard]] std::string code_span(std::string_view text);

/// Escapes text so that Markdown shows it as it is, on one line; `printable` replaces control
/// characters.
[[nodiscard]] std::string markdown_prose(std::string_view text);

/// Returns the captions, the table and its footnotes as Markdown. If rows have reasons
/// (`TableRow::reason`), a last column shows them.
[[nodiscard]] std::string markdown_table(const Table& table);

}  // namespace parbench::report
