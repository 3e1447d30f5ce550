// Writes rows and cells of a page's tables.
#include "reports/views/html/html_table.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "reports/text/text.h"
#include "reports/views/html/html_frame.h"

namespace parbench::report {
namespace {

std::string_view class_of(Tone tone) {
  constexpr std::array<std::string_view, 4> names{"", "faster", "slower", "reason"};
  return names.at(static_cast<std::size_t>(tone));
}

std::string_view class_of(Emphasis emphasis) {
  return emphasis == Emphasis::bold ? "strong" : emphasis == Emphasis::dim ? "dim" : "";
}

std::string classes_of(const TableColumn& column, Tone tone) {
  const std::array<std::string_view, 3> classes{column.align == Align::left ? "text" : "",
                                                column.wrapped ? "wrapped" : "", class_of(tone)};
  return joined(classes, " ");
}

using Attributes = std::vector<HtmlWriter::Attribute>;

void add_value(Attributes& attributes, std::string_view name, std::string_view value) {
  if (!value.empty()) attributes.emplace_back(name, value);
}

class TableWriter {
 public:
  TableWriter(HtmlWriter& html, const Table& table) : html_(html), table_(table) {}

  void write(const HtmlTable& names) {
    Attributes of_region{{"class", "table"}};
    if (!names.label.empty()) {
      of_region.insert(of_region.end(),
                       {{"role", "region"}, {"tabindex", "0"}, {"aria-label", names.label}});
    }
    html_.open("div", of_region).raw("\n");
    Attributes of_table;
    add_value(of_table, "class", names.css_class);
    add_value(of_table, "id", names.id);
    html_.open("table", of_table).raw("\n");
    if (!names.label.empty()) html_.element("caption", names.label).raw("\n");
    head();
    html_.raw("<tbody>\n");
    for (std::size_t row = 0; row < table_.rows.size(); ++row) body_row(row);
    html_.raw("</tbody>\n</table>\n</div>\n");
  }

 private:
  void head() {
    html_.raw("<thead>\n<tr>");
    for (const TableColumn& column : table_.columns) {
      const std::string classes = classes_of(column, Tone::plain);
      Attributes attributes{{"scope", "col"}};
      add_value(attributes, "class", classes);
      html_.open("th", attributes).text(whole_title(column)).close("th");
    }
    html_.raw("</tr>\n</thead>\n");
  }

  void body_row(std::size_t row) {
    Attributes attributes;
    add_value(attributes, "class", class_of(table_.rows[row].emphasis));
    add_value(attributes, "data-case", table_.rows[row].id);
    html_.open("tr", attributes);
    for (std::size_t i = 0; i < table_.columns.size(); i += table_.columns[i].cells[row].span) {
      cell(i, row);
    }
    html_.raw("</tr>\n");
  }

  void cell(std::size_t index, std::size_t row) {
    const TableColumn& column = table_.columns[index];
    const TableCell& cell = column.cells[row];
    const std::string classes = classes_of(column, cell.tone);
    const std::string span = cell.span > 1 ? std::to_string(cell.span) : "";
    const bool sorted = cell.number && std::isfinite(*cell.number);
    const std::string number = sorted ? fmt::format("{:.9g}", *cell.number) : "";
    Attributes attributes;
    if (index == 0) attributes.emplace_back("scope", "row");
    add_value(attributes, "class", classes);
    add_value(attributes, "colspan", span);
    add_value(attributes, "data-v", number);
    const std::string_view tag = index == 0 ? "th" : "td";
    html_.open(tag, attributes);
    if (column.folded) {
      html_.raw("<details><summary>more</summary>").element("p", cell.text).raw("</details>");
    } else {
      content(cell, table_.rows[row].reason);
    }
    html_.close(tag);
  }

  void content(const TableCell& cell, const std::string& reason) {
    if (cell.tone == Tone::reason && !reason.empty()) {
      html_.element("strong", cell.text).text(": " + reason);
    } else if (!cell.link.empty()) {
      write_link(html_, {cell.link, whole_text(cell)});
    } else {
      html_.text(whole_text(cell));
    }
    if (!cell.note.empty()) html_.raw("<br>").element("small", cell.note);
  }

  HtmlWriter& html_;
  const Table& table_;
};

}  // namespace

void write_table(HtmlWriter& html, const Table& table, const HtmlTable& names) {
  TableWriter(html, table).write(names);
}

void write_list(HtmlWriter& html, std::string_view css_class,
                const std::vector<std::string>& items) {
  if (items.empty()) return;
  html.open("ul", {{"class", css_class}}).raw("\n");
  for (const std::string& item : items) html.element("li", item).raw("\n");
  html.raw("</ul>\n");
}

void write_footnotes(HtmlWriter& html, const Table& table) {
  std::vector<std::string> marks;
  for (const Footnote& note : table.footnotes) marks.push_back(whole_text(note));
  write_list(html, "marks", marks);
}

}  // namespace parbench::report
