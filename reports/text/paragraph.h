// Wraps running text for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/text/grid.h"
#include "reports/text/text.h"

namespace parbench::report {

/// Returns "one · two · three", wrapped between items at the style's width. Ends with a line break.
[[nodiscard]] std::string joined_items(const std::vector<std::string>& items,
                                       const TextStyle& style, Emphasis emphasis);

/// Returns a paragraph whose first line starts with `lead`; the other lines are indented. Ends with
/// a line break.
[[nodiscard]] std::string hanging(std::string_view lead, std::string_view text,
                                  const TextStyle& style, Emphasis emphasis = Emphasis::none);

}  // namespace parbench::report
