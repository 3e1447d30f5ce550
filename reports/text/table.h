// A table as a model: the texts of its cells, the meaning of their marks, and the lines around it.
// Painters lay it out for a terminal, for Markdown (markdown_text.h) and for a page
// (views/html/html_table.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/text/grid.h"
#include "reports/text/text.h"

namespace parbench::report {

/// What a page emphasises by colour.
enum class Tone { plain, better, worse, reason };

struct TableCell {
  std::string text = {};
  std::string mark = {};   // of a footnote, behind the text
  std::string range = {};  // the interval of the text
  std::string range_mark = {};
  std::optional<double> number = {};  // to sort by
  Tone tone = Tone::plain;            // for `reason`, a page appends the reason of the row
  std::size_t span = 1;   // columns that it takes on a page, at least 1; the next ones are empty
  std::string link = {};  // where it leads on a page
  std::string note = {};  // a second line on a page
};

struct TableColumn {
  std::string title;
  std::vector<TableCell> cells = {};  // one per row
  Align align = Align::right;
  bool verbatim = false;         // cells are text of a report
  bool verbatim_title = false;   // so is the title
  std::string range_title = {};  // of the ranges; empty where they have none
  Align range_align = Align::left;
  std::string subtitle = {};   // what the parts of the cells are: "cpu:0 + cpu:1"
  bool unit_in_title = false;  // a unit that all cells share may stand in place of the title
  bool only_on_pages = false;  // a terminal has no room for it
  bool wrapped = false;        // a page breaks its lines
  bool folded = false;         // a page shows its cells on request
  Narrow narrow = {};          // what a terminal does with it where the table is too wide
  int range_rank = 0;          // of the ranges, where they may be left out alone
};

struct TableRow {
  Emphasis emphasis = Emphasis::none;
  std::string reason = {};  // why it has no numbers
  std::string id = {};      // by which scripts of a page find it
};

/// A mark in the table's cells, or the title of a column and a colon, and what it means. Without a
/// mark it is about the whole table.
using Footnote = std::pair<std::string, std::string>;

struct Table {
  std::vector<TableColumn> columns = {};
  std::vector<TableRow> rows = {};
  /// The column with the status of rows without numbers: behind it stand the marks of their
  /// reasons.
  std::size_t status_column = 0;
  std::vector<std::vector<std::string>> captions = {};
  std::vector<Footnote> footnotes = {};
  bool joins_headings = false;                  // Grid::joins_headings
  std::string complete_in = "the JSON report";  // what has columns that a terminal has no room for
};

/// Adds a column. `cell` makes a text or a TableCell of each item, in the order of the rows; the
/// first column makes the rows, unless there are any. Throws std::logic_error for another number of
/// items.
template <std::ranges::input_range Items, class MakeCell>
void add_column(Table& table, TableColumn column, Items&& items, const MakeCell& cell) {
  for (const auto& item : items) column.cells.push_back(TableCell{std::invoke(cell, item)});
  if (table.columns.empty() && table.rows.empty()) table.rows.resize(column.cells.size());
  if (column.cells.size() != table.rows.size()) {
    throw std::logic_error("column '" + column.title + "' has a cell too few or too many");
  }
  table.columns.push_back(std::move(column));
}

/// Returns the title with its suffix, for painters that write cells and ranges in one column:
/// "speedup over single", "peak memory cpu:0 + cpu:1".
[[nodiscard]] std::string whole_title(const TableColumn& column);
/// Returns text and range with their marks: "1.71× (1.69–1.73)°".
[[nodiscard]] std::string whole_text(const TableCell& cell);

/// Returns a footnote with its mark, if it has one.
[[nodiscard]] std::string whole_text(const Footnote& note);

/// Paints a table for a terminal: captions, columns, footnotes and the reasons of rows. A table
/// that is wider than the style leaves out columns as `Narrow` says, and a line below it names
/// them. Control characters become U+FFFD, but for line breaks in footnotes and reasons.
[[nodiscard]] std::string to_text(const Table& table, const TextStyle& style);

}  // namespace parbench::report
