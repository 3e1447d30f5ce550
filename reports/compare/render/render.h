// A comparison for people, as a page, for a pull request, and for programs.
#pragma once

#include <string>

#include "reports/compare/comparison.h"
#include "reports/io/json_value.h"
#include "reports/views/html/html.h"
#include "reports/views/table.h"

namespace parbench::compare {

/// The answer in a sentence, the two sides, a row for each case in the order of the verdicts, and
/// what to know of the evidence. UTF-8 without control characters but those of the style.
[[nodiscard]] std::string to_table(const Comparison& comparison,
                                   const report::TextStyle& style = {});

/// GitHub's Markdown for a comment: the answer, regressions and failures; the rest folded.
[[nodiscard]] std::string to_markdown(const Comparison& comparison);

/// A page that needs nothing else, with the same as the table. Text of the reports stays text.
[[nodiscard]] std::string to_html(const Comparison& comparison, const report::WebAssets& assets);

/// schema/comparison-v2.schema.json. A number that is not finite is null.
[[nodiscard]] report::Json to_json(const Comparison& comparison);
[[nodiscard]] std::string json_text(const Comparison& comparison);

/// What the program exits with: 0, 1, 3 or 4 by the outcome; 2 where a command failed between
/// pairs, 130 where they were interrupted.
[[nodiscard]] int exit_code(const Comparison& comparison);

}  // namespace parbench::compare
