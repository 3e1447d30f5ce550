// Renders a comparison as a table for a terminal.
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/render/render.h"
#include "reports/compare/render/rows_table.h"
#include "reports/compare/words.h"
#include "reports/text/paragraph.h"
#include "reports/text/text.h"

namespace parbench::compare {

std::string to_table(const Comparison& comparison, const report::TextStyle& style) {
  using report::Emphasis;
  const auto paragraph = [&](std::string_view lead, const std::string& text,
                             Emphasis emphasis = Emphasis::none) {
    return report::hanging(lead, report::printable(text), style, emphasis);
  };
  std::string text = paragraph("", sentence(comparison), Emphasis::bold) + '\n';
  text += paragraph("BASE  ", side_text(comparison, comparison.base));
  text += paragraph("NEW   ", side_text(comparison, comparison.now));
  for (const ScenarioFacts& scenario : comparison.scenarios) {
    text += paragraph(report::printable(scenario.scenario) + ": ", facts_text(scenario));
  }
  if (comparison.rows.empty()) return text;
  text += '\n' + report::to_text(rows_table(all_rows(comparison)), style);
  const std::vector<std::string> notes = all_notes(comparison);
  if (!notes.empty()) text += '\n';
  for (const std::string& note : notes) text += paragraph("", note);
  return text;
}

}  // namespace parbench::compare
