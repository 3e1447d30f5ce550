// Renders a comparison as a comment on a pull request. Text from reports is escaped: it is not
// trusted.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "kernels/base/units/units.h"
#include "reports/compare/render/render.h"
#include "reports/compare/render/rows_table.h"
#include "reports/compare/words.h"
#include "reports/text/markdown_text.h"

namespace parbench::compare {
namespace {

using report::code_span;
using report::markdown_prose;
using report::markdown_table;

std::string item(const std::string& name, const std::string& text) {
  return fmt::format("- {}: {}\n", name, markdown_prose(text));
}

std::string facts_of(const Comparison& comparison) {
  std::string text = item("BASE", side_text(comparison, comparison.base));
  text += item("NEW", side_text(comparison, comparison.now));
  for (const ScenarioFacts& scenario : comparison.scenarios) {
    text += item(code_span(scenario.scenario), facts_text(scenario));
  }
  for (const std::string& note : all_notes(comparison)) text += "- " + markdown_prose(note) + '\n';
  return text;
}

std::string folded(const std::string& title, const std::string& text) {
  return fmt::format("\n<details>\n<summary>{}</summary>\n\n{}\n</details>\n", title, text);
}

}  // namespace

std::string to_markdown(const Comparison& comparison) {
  Rows urgent;
  Rows others;
  for (const Row& row : comparison.rows) (is_urgent(row) ? urgent : others).push_back(&row);
  std::string text = fmt::format("**{}**\n", markdown_prose(sentence(comparison)));
  if (!urgent.empty()) text += '\n' + markdown_table(rows_table(urgent));
  if (!others.empty()) {
    const std::string_view thing = urgent.empty() ? "case" : "other case";
    text += folded(format_count(others.size(), thing), markdown_table(rows_table(others)));
  }
  return text + folded("What was compared, and how", facts_of(comparison));
}

}  // namespace parbench::compare
