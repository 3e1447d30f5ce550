// Data model of a table: the texts of its cells, the meaning of their marks, and its captions and
// footnotes. A table is formatted for terminals, Markdown (markdown_text.h) and pages
// (views/html/html_table.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "reports/text/grid.h"
#include "reports/text/text.h"

namespace parbench::report {

/// How a page colours a cell.
enum class Tone { plain, better, worse, reason };

struct TableCell {
  std::string text = {};
  std::string mark = {};   // mark of a footnote, shown after the text
  std::string range = {};  // interval of the value
  std::string range_mark = {};
  std::optional<double> number = {};  // sort key on a page
  Tone tone = Tone::plain;            // `reason`: a page appends TableRow::reason
  std::size_t span = 1;   // width in columns on a page, at least 1; the next columns are empty
  std::string link = {};  // target of the cell's link on a page
  std::string note = {};  // second line of the cell on a page
};

struct TableColumn {
  std::string title;
  std::vector<TableCell> cells = {};  // one per row
  Align align = Align::right;
  bool verbatim = false;         // Markdown shows the cells as code, for names from reports
  bool verbatim_title = false;   // Markdown shows the title as code, for names from reports
  std::string range_title = {};  // title of the ranges; empty if there are none
  Align range_align = Align::left;
  std::string subtitle = {};   // names the parts of the cells: "cpu:0 + cpu:1"
  bool unit_in_title = false;  // on a terminal, a unit that all cells share replaces the title
  bool only_on_pages = false;  // terminals and Markdown leave the column out
  bool wrapped = false;        // a page breaks the lines of its cells
  bool folded = false;         // a page shows its cells on request
  Narrow narrow = {};          // behaviour on a terminal that is too narrow
  int range_rank = 0;          // rank of the ranges if they may be left out alone; else 0
};

struct TableRow {
  Emphasis emphasis = Emphasis::none;
  std::string reason = {};  // why the row has no numbers
  std::string id = {};      // identifies the row for the scripts of a page
};

/// A mark of a cell, or a column's title with a colon, and its meaning. Without a mark, the note is
/// about the whole table.
using Footnote = std::pair<std::string, std::string>;

struct Table {
  std::vector<TableColumn> columns = {};
  std::vector<TableRow> rows = {};
  /// Index of the column with the status of rows without numbers. On a terminal, its cells end with
  /// the number of the row's reason below the table.
  std::size_t status_column = 0;
  std::vector<std::vector<std::string>> captions = {};
  std::vector<Footnote> footnotes = {};
  bool joins_headings = false;  // Grid::joins_headings
  /// Name of an output with all columns, for the note on columns that a terminal leaves out.
  std::string complete_in = "the JSON report";
};

/// Adds a column. `cell` converts each item to a text or a TableCell. The first column adds the
/// rows unless there are any. Throws std::logic_error if the number of items differs from the
/// number of rows.
template <std::ranges::input_range Items, class MakeCell>
void add_column(Table& table, TableColumn column, Items&& items, const MakeCell& cell) {
  for (const auto& item : items) column.cells.push_back(TableCell{std::invoke(cell, item)});
  if (table.columns.empty() && table.rows.empty()) table.rows.resize(column.cells.size());
  if (column.cells.size() != table.rows.size()) {
    throw std::logic_error("column '" + column.title + "' has a cell too few or too many");
  }
  table.columns.push_back(std::move(column));
}

/// Returns title, range title and subtitle in one text, for formats with cells and ranges in one
/// column: "speedup over single", "peak memory cpu:0 + cpu:1".
[[nodiscard]] std::string whole_title(const TableColumn& column);
/// Returns text and range with their marks: "1.71× (1.69–1.73)°".
[[nodiscard]] std::string whole_text(const TableCell& cell);

/// Returns a footnote with its mark, if it has one.
[[nodiscard]] std::string whole_text(const Footnote& note);

/// Formats a table for a terminal: captions, columns, footnotes whose mark is shown, and the
/// reasons of rows. A table wider than the style omits columns as `Narrow` defines, and a line
/// below it names them. Control characters become U+FFFD, except line breaks in footnotes and
/// reasons.
[[nodiscard]] std::string to_text(const Table& table, const TextStyle& style);

}  // namespace parbench::report
