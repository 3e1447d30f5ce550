// Renders a comparison as a table, an HTML page, a pull request comment and JSON.
#pragma once

#include <string>

#include "reports/compare/comparison.h"
#include "reports/io/json_value.h"
#include "reports/views/html/html.h"
#include "reports/views/table.h"

namespace parbench::compare {

/// Returns the answer in a sentence, the two sides, a row for each case sorted by verdict, and
/// notes on the evidence. UTF-8; the only control characters are those of the style.
[[nodiscard]] std::string to_table(const Comparison& comparison,
                                   const report::TextStyle& style = {});

/// Returns a comment in GitHub's Markdown: the answer, regressions and failures; all else is
/// folded.
[[nodiscard]] std::string to_markdown(const Comparison& comparison);

/// Returns a self-contained page with the contents of the table. Text from reports is escaped.
[[nodiscard]] std::string to_html(const Comparison& comparison, const report::WebAssets& assets);

/// Returns JSON as in schema/comparison-v2.schema.json. Numbers that are not finite become null.
[[nodiscard]] report::Json to_json(const Comparison& comparison);
[[nodiscard]] std::string json_text(const Comparison& comparison);

/// Returns the exit code of the program: 0, 1, 3 or 4 by outcome; 2 if a command failed during the
/// pairs, 130 if they were interrupted.
[[nodiscard]] int exit_code(const Comparison& comparison);

}  // namespace parbench::compare
