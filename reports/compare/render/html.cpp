// A comparison as a page of HTML.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "reports/compare/render/render.h"
#include "reports/compare/render/rows_table.h"
#include "reports/compare/words.h"
#include "reports/text/text.h"
#include "reports/views/html/html_frame.h"
#include "reports/views/html/html_table.h"

namespace parbench::compare {
namespace {

void write_paragraph(report::HtmlWriter& html, std::string_view css_class,
                     const std::string& text) {
  html.element("p", report::printable(text), {{"class", css_class}}).raw("\n");
}

}  // namespace

std::string to_html(const Comparison& comparison, const report::WebAssets& assets) {
  report::HtmlWriter html;
  report::open_page(html, assets, "parbench: a comparison", {});
  html.raw("<main id=\"results\">\n");
  write_paragraph(html, "answer", sentence(comparison));
  write_paragraph(html, "counts", "BASE " + side_text(comparison, comparison.base));
  write_paragraph(html, "counts", "NEW " + side_text(comparison, comparison.now));
  for (const ScenarioFacts& scenario : comparison.scenarios) {
    write_paragraph(html, "counts", scenario.scenario + ": " + facts_text(scenario));
  }
  const report::Table table = rows_table(all_rows(comparison));
  report::write_table(html, table, {.css_class = "cases", .label = "Verdicts"});
  for (const auto& [mark, note] : table.footnotes) write_paragraph(html, "note", mark + ' ' + note);
  for (const std::string& note : all_notes(comparison)) write_paragraph(html, "note", note);
  html.raw("</main>\n");
  report::close_page(html, assets, "parbench-data", [] { return "[]"; });
  return html.take();
}

}  // namespace parbench::compare
