// Paints tables on a page.
#pragma once

#include <string>
#include <string_view>

#include "reports/text/table.h"
#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// How a page calls a table.
struct HtmlTable {
  std::string_view style;  // its class
  std::string id = {};
  std::string label = {};  // for readers of the screen
};

/// Columns and rows, without captions and footnotes. The first cell of a row is its heading; a
/// number that a cell is sorted by stands in `data-v`.
void write_table(HtmlWriter& html, const Table& table, const HtmlTable& as);

}  // namespace parbench::report
