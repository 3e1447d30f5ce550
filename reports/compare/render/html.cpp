// Renders a comparison as an HTML page.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/base/units/wide_intervals.h"
#include "reports/compare/render/render.h"
#include "reports/compare/render/rows_table.h"
#include "reports/compare/words.h"
#include "reports/text/text.h"
#include "reports/views/html/html_changes.h"
#include "reports/views/html/html_frame.h"
#include "reports/views/html/html_table.h"

namespace parbench::compare {
namespace {

void write_paragraph(report::HtmlWriter& html, std::string_view css_class,
                     const std::string& text) {
  html.element("p", report::printable(text), {{"class", css_class}}).raw("\n");
}

/// Returns the interval to draw. An unknown change is drawn beyond the edge, because it would
/// otherwise set the scale of the picture.
Interval drawn(const Interval& interval) {
  if (!is_unknown_change(interval)) return interval;
  return {-1, std::numeric_limits<double>::infinity(), interval.confidence};
}

/// Returns a series for each verdict, from the cases that were judged.
report::ChangesPicture changes_of(const Comparison& comparison) {
  report::ChangesPicture picture{
      .description = "The change of each case's time, NEW over BASE minus 1, with its interval.",
      .threshold = comparison.rule.threshold};
  for (const Row& row : comparison.rows) picture.cases.push_back(report::printable(row.label));
  for (const Verdict verdict :
       {Verdict::same, Verdict::regressed, Verdict::improved, Verdict::undecided}) {
    report::ChangeSeries series{.name = std::string(to_string(verdict))};
    for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
      const auto& judgement = comparison.rows[i].judgement;
      if (!judgement || judgement->verdict != verdict) continue;
      const Change& change = judgement->change;
      series.points.push_back({i, change.value, drawn(change.interval)});
    }
    picture.series.push_back(std::move(series));
  }
  return picture;
}

bool has_points(const report::ChangesPicture& picture) {
  return std::ranges::any_of(picture.series, [](const auto& one) { return !one.points.empty(); });
}

}  // namespace

std::string to_html(const Comparison& comparison, const report::WebAssets& assets) {
  report::HtmlWriter html;
  report::open_page(html, assets, "parbench: a comparison", {});
  report::open_results(html, assets);
  write_paragraph(html, "answer", sentence(comparison));
  write_paragraph(html, "counts", "BASE " + side_text(comparison, comparison.base));
  write_paragraph(html, "counts", "NEW " + side_text(comparison, comparison.now));
  for (const ScenarioFacts& scenario : comparison.scenarios) {
    write_paragraph(html, "counts", scenario.scenario + ": " + facts_text(scenario));
  }
  html.raw("<section id=\"verdicts\" class=\"scenario\">\n");
  if (const auto picture = changes_of(comparison); has_points(picture)) {
    report::write_changes(html, assets, picture);
  }
  const report::Table table = rows_table(all_rows(comparison));
  report::write_table(html, table, {.css_class = "cases", .label = "Verdicts"});
  for (const auto& [mark, note] : table.footnotes) write_paragraph(html, "note", mark + ' ' + note);
  html.raw("</section>\n");
  for (const std::string& note : all_notes(comparison)) write_paragraph(html, "note", note);
  html.raw("</main>\n");
  report::close_page(html, assets, "parbench-data", [] { return "[]"; });
  return html.take();
}

}  // namespace parbench::compare
