// Writes tables on a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/text/table.h"
#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// Class, id and label of a table on a page. The label is its caption and the name of its region
/// for screen readers.
struct HtmlTable {
  std::string_view css_class = {};
  std::string id = {};
  std::string label = {};
};

/// Writes columns and rows, without captions and footnotes. The first cell of a row is its heading;
/// `data-v` is the number by which a cell is sorted.
void write_table(HtmlWriter& html, const Table& table, const HtmlTable& names);

/// Writes a list of texts; nothing if it is empty.
void write_list(HtmlWriter& html, std::string_view css_class,
                const std::vector<std::string>& items);

/// Writes the footnotes of a table as a list.
void write_footnotes(HtmlWriter& html, const Table& table);

}  // namespace parbench::report
