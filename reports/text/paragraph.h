// Wraps running text for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/text/grid.h"
#include "reports/text/text.h"

namespace parbench::report {

/// Joins items, "one · two · three", and wraps the lines at the style's width or `max_line`,
/// between items where possible. Ends with a line break.
[[nodiscard]] std::string joined_items(const std::vector<std::string>& items,
                                       const TextStyle& style, Emphasis emphasis);

/// Wraps a paragraph whose first line starts with `lead`; the other lines are indented by the width
/// of `lead`. Ends with a line break.
[[nodiscard]] std::string hanging(std::string_view lead, std::string_view text,
                                  const TextStyle& style, Emphasis emphasis = Emphasis::none);

}  // namespace parbench::report
