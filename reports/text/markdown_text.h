// Escapes untrusted text for GitHub's Markdown (github.github.com/gfm), and formats tables.
#pragma once

#include <string>
#include <string_view>

#include "reports/text/table.h"

namespace parbench::report {

/// Returns a code span, also for a table's cell, in which neither markup nor mentions of users have
/// an effect. Empty text stays empty.
[[nodiscard]] std::string code_span(std::string_view text);

/// Escapes text so that Markdown shows it unchanged, on one line.
[[nodiscard]] std::string markdown_prose(std::string_view text);

/// Returns the captions, the table and its footnotes as Markdown. A last column has the reasons of
/// rows without numbers.
[[nodiscard]] std::string markdown_table(const Table& table);

}  // namespace parbench::report
