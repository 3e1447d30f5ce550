// A table of text for a terminal, with aligned columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/text/text.h"

namespace parbench::report {

/// The text of a cell if its column does not apply.
inline constexpr std::string_view not_applicable = "–";

enum class Emphasis { none, bold, dim };

/// Adds the terminal's escape sequences for the emphasis if `color` is set.
[[nodiscard]] std::string emphasised(std::string text, Emphasis emphasis, bool color);

/// How a column behaves in a table that is too wide. The next step is taken only if the table is
/// still too wide and has headings:
/// 1. Columns with a rank from 1 to `important_rank` − 1 are left out, except those that fit,
///    higher ranks first.
/// 2. In a grid that `joins_headings`, columns of all ranks but 0 may be left out, and one column
///    replaces all headings if that keeps more important columns. The step is undone if the table
///    does not fit or loses all columns from `needed_rank` on.
/// 3. The headings move to lines above their rows, and columns of all ranks but 0 may be left out.
struct Narrow {
  static constexpr int important_rank = 100;
  /// Headings are not joined if that costs all columns from this rank on.
  static constexpr int needed_rank = 200;
  int rank = 0;             // 0: never left out
  bool is_heading = false;  // the column's texts name the row
};

struct Column {
  std::string title;
  std::vector<std::string> cells = {};  // one per row
  Align align = Align::right;
  std::string upper_title = {};  // a line above the title
  std::size_t gap = 2;           // spaces before the column, unless it is the first one
  Narrow narrow = {};            // behaviour in a table that is too wide
  std::string name = {};         // name in the note on columns that are left out
};

struct Grid {
  std::vector<Column> columns;
  std::vector<Emphasis> emphasis;  // one per row
  /// The heading of each row, on lines above the row; empty if columns name the rows.
  std::vector<std::string> headings = {};
  std::string headings_title = {};
  bool joins_headings = false;  // whether `fit` may join all headings in one column

  /// Makes the grid fit into `width` columns of the terminal, as far as `Narrow` allows. Returns
  /// the names of the columns that it leaves out, each once.
  std::vector<std::string> fit(std::size_t width);

  /// Returns the width of the rule, which spans all columns, in columns of the terminal.
  [[nodiscard]] std::size_t width() const;

  /// Returns title, rule and rows, each line with a line break and without trailing spaces. Leaves
  /// out columns whose cells are all empty; cuts cells after a width of 160.
  [[nodiscard]] std::string render(bool color) const;
};

}  // namespace parbench::report
