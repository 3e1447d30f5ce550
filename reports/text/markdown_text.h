// Text of others made harmless in GitHub's Markdown (github.github.com/gfm), and tables of it.
#pragma once

#include <string>
#include <string_view>

#include "reports/text/table.h"

namespace parbench::report {

/// As a code span, also of a table's cell: neither markup nor a mention of a user has an effect
/// there. Empty text stays empty.
[[nodiscard]] std::string code_span(std::string_view text);

/// As it is read, on one line.
[[nodiscard]] std::string markdown_prose(std::string_view text);

/// Captions, the table and its footnotes. A last column has the reasons of the rows without
/// numbers.
[[nodiscard]] std::string markdown_table(const Table& table);

}  // namespace parbench::report
