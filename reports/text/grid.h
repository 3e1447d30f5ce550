// A table of text for a terminal: columns that align, rows that may be emphasised.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/text/text.h"

namespace parbench::report {

enum class Emphasis { none, bold, dim };

/// Wraps text in the terminal's escape sequences, if `color` is set.
[[nodiscard]] std::string emphasised(std::string text, Emphasis emphasis, bool color);

struct Column {
  std::string title;
  std::vector<std::string> cells;  // one per row
  Align align = Align::right;
  std::string upper_title = {};  // a line above the title
  std::size_t gap = 2;           // spaces before the column, unless it is the first one
};

struct Grid {
  std::vector<Column> columns;
  std::vector<Emphasis> emphasis;  // one per row

  /// Title, rule and rows, each line with its line break and without trailing spaces. A column
  /// whose cells are all empty is left out; none is wider than 160.
  [[nodiscard]] std::string render(bool color) const;
};

}  // namespace parbench::report
