// The table of the cases of a scenario as a model: the texts of its cells, the meaning of their
// marks, and the lines around it. Painters lay it out for a terminal, for Markdown and for a page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/report.h"
#include "reports/text/grid.h"
#include "reports/text/text.h"
#include "reports/views/parameter_columns.h"

namespace parbench::report {

struct TableCell {
  std::string text;
  std::string mark = {};   // of a footnote, behind the text
  std::string range = {};  // the interval of the text
  std::string range_mark = {};
  std::optional<double> number = {};  // to sort by
};

struct TableColumn {
  std::string title;
  std::vector<TableCell> cells = {};  // one per row
  Align align = Align::right;
  bool verbatim = false;         // cells are text of the report
  bool verbatim_title = false;   // so is the title
  std::string range_title = {};  // of the ranges; empty where they have none
  Align range_align = Align::left;
  std::string subtitle = {};   // what the parts of the cells are: "cpu:0 + cpu:1"
  bool unit_in_title = false;  // a unit that all cells share may stand in place of the title
  bool only_on_pages = false;  // a terminal has no room for it
};

struct TableRow {
  Emphasis emphasis = Emphasis::none;
  std::string reason = {};  // why it has no numbers
};

/// A mark in the table's cells and what it means.
using Footnote = std::pair<std::string, std::string>;

struct CaseTable {
  std::vector<TableColumn> columns;
  std::size_t first_number =
      0;  // the first column of numbers; rows without have their status there
  std::vector<TableRow> rows;
  std::vector<std::vector<std::string>> captions;
  std::vector<Footnote> footnotes;
};

/// Builds the table. Columns of numbers without content are left out.
[[nodiscard]] CaseTable case_table(const Cases& cases);

/// What a parameter has in the row of a case to which it does not apply.
inline constexpr std::string_view not_applicable = "–";
/// Marks a case on a throttled device.
inline constexpr std::string_view throttled_mark = "§";

/// Returns whether a bound is disproved by the time that was measured.
[[nodiscard]] bool is_no_bound(const CaseResult& c);

/// Returns the title with its suffix, for painters that write cells and ranges in one column:
/// "speedup over single", "peak memory cpu:0 + cpu:1".
[[nodiscard]] std::string whole_title(const TableColumn& column);
/// Returns text and range with their marks: "1.71× (1.69–1.73)°".
[[nodiscard]] std::string whole_text(const TableCell& cell);

}  // namespace parbench::report
