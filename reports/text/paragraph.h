// Running text of a terminal: wrapped to its width, emphasised.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/text/grid.h"
#include "reports/text/text.h"

namespace parbench::report {

/// "one · two · three", with a new line where the next item would pass the style's width. Ends with
/// a line break.
[[nodiscard]] std::string joined_items(const std::vector<std::string>& items,
                                       const TextStyle& style, Emphasis emphasis);

/// A paragraph whose first line opens with `lead` and whose others are indented below it. Ends with
/// a line break.
[[nodiscard]] std::string hanging(std::string_view lead, std::string_view text,
                                  const TextStyle& style, Emphasis emphasis = Emphasis::none);

}  // namespace parbench::report
