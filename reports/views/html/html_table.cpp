// Rows and cells of a page's tables.
#include "reports/views/html/html_table.h"

#include <fmt/format.h>

#include <cmath>

#include "reports/views/html/html_frame.h"

namespace parbench::report {
namespace {

std::string_view class_of(Tone tone) {
  switch (tone) {
    case Tone::better:
      return "faster";
    case Tone::worse:
      return "slower";
    case Tone::reason:
      return "reason";
    case Tone::plain:
      break;
  }
  return {};
}

std::string_view class_of(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::bold:
      return "fastest";
    case Emphasis::dim:
      return "missing";
    case Emphasis::none:
      break;
  }
  return {};
}

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? std::string() : fmt::format(" {}=\"{}\"", name, html_escaped(value));
}

class TableWriter {
 public:
  TableWriter(HtmlWriter& html, const Table& table) : html_(html), table_(table) {}

  void write(const HtmlTable& as) {
    html_.raw("<div class=\"table\"");
    if (!as.label.empty()) {
      html_.raw(" role=\"region\" tabindex=\"0\"").raw(attribute("aria-label", as.label));
    }
    html_.raw(">\n<table");
    html_.raw(attribute("class", as.style)).raw(attribute("id", as.id)).raw(">\n");
    if (!as.label.empty()) html_.element("caption", as.label).raw("\n");
    html_.raw("<thead>\n<tr>");
    for (const TableColumn& column : table_.columns) {
      html_.raw("<th scope=\"col\"").raw(attribute("class", column_class(column))).raw(">");
      html_.text(whole_title(column)).raw("</th>");
    }
    html_.raw("</tr>\n</thead>\n<tbody>\n");
    for (std::size_t row = 0; row < table_.rows.size(); ++row) body_row(row);
    html_.raw("</tbody>\n</table>\n</div>\n");
  }

 private:
  static std::string column_class(const TableColumn& column) {
    const std::string_view text = column.align == Align::left ? "text" : "";
    return fmt::format("{}{}", text, column.wrapped ? " wrapped" : "");
  }

  void body_row(std::size_t row) {
    const TableRow& of = table_.rows[row];
    html_.raw("<tr").raw(attribute("class", class_of(of.emphasis)));
    html_.raw(attribute("data-case", of.id)).raw(">");
    for (std::size_t i = 0; i < table_.columns.size(); i += table_.columns[i].cells[row].span) {
      cell(i, row);
    }
    html_.raw("</tr>\n");
  }

  void cell(std::size_t index, std::size_t row) {
    const TableColumn& column = table_.columns[index];
    const TableCell& cell = column.cells[row];
    const std::string_view tag = index == 0 ? "th" : "td";
    html_.raw(fmt::format("<{}", tag)).raw(index == 0 ? " scope=\"row\"" : "");
    const std::string_view tone = class_of(cell.tone);
    html_.raw(attribute("class", tone.empty() ? column_class(column) : tone));
    if (cell.span > 1) html_.raw(fmt::format(" colspan=\"{}\"", cell.span));
    if (cell.number && std::isfinite(*cell.number)) {
      html_.raw(fmt::format(" data-v=\"{:.9g}\"", *cell.number));
    }
    html_.raw(">");
    if (column.folded) {
      html_.raw("<details><summary>more</summary>").element("p", cell.text).raw("</details>");
    } else {
      content(cell, table_.rows[row].reason);
    }
    html_.close(tag);
  }

  void content(const TableCell& cell, const std::string& reason) {
    if (cell.tone == Tone::reason) {
      html_.element("strong", cell.text);
      if (!reason.empty()) html_.text(": " + reason);
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

void write_table(HtmlWriter& html, const Table& table, const HtmlTable& as) {
  TableWriter(html, table).write(as);
}

}  // namespace parbench::report
