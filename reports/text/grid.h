// A table of text for a terminal: columns that align, rows that may be emphasised.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/text/text.h"

namespace parbench::report {

/// The text of a cell to which its column does not apply.
inline constexpr std::string_view not_applicable = "–";

enum class Emphasis { none, bold, dim };

/// Wraps text in the terminal's escape sequences, if `color` is set.
[[nodiscard]] std::string emphasised(std::string text, Emphasis emphasis, bool color);

/// What becomes of a column in a table that is too wide. It has those columns with a rank below
/// `important_rank` that fit beside the others, higher ranks first. Where the others are too wide
/// alone, a grid that `joins_headings` has one column for all headings if more important columns
/// fit beside that. Where that does not suffice either, the headings move to a line above their
/// rows. In both cases columns of any rank are left out.
struct Narrow {
  static constexpr int important_rank = 100;
  static constexpr int needed_rank = 200;  // headings rather move to a line of their own
  int rank = 0;                            // 0: it is never left out
  bool is_heading = false;                 // of a row: its texts say what the row is
};

struct Column {
  std::string title;
  std::vector<std::string> cells = {};  // one per row
  Align align = Align::right;
  std::string upper_title = {};  // a line above the title
  std::size_t gap = 2;           // spaces before the column, unless it is the first one
  Narrow narrow = {};            // what to do with it where the table is too wide
  std::string name = {};         // by which a note names it where it is left out
};

struct Grid {
  std::vector<Column> columns;
  std::vector<Emphasis> emphasis;  // one per row
  /// The lines above each row, which say what it is; empty where columns do.
  std::vector<std::string> headings = {};
  std::string headings_title = {};
  bool joins_headings = false;  // where the columns do not fit; else each has a line of its own

  /// Makes the grid fit into `width` columns, as far as `Narrow` allows. Returns the names of the
  /// columns that are missing now, each once.
  std::vector<std::string> fit(std::size_t width);

  /// Columns that the widest line takes.
  [[nodiscard]] std::size_t width() const;

  /// Title, rule and rows, each line with its line break and without trailing spaces. A column
  /// whose cells are all empty is left out; none is wider than 160.
  [[nodiscard]] std::string render(bool color) const;
};

}  // namespace parbench::report
