// Writes tables in GitHub's Markdown (github.github.com/gfm), one per scenario, with its answer.
// Names and reasons are code spans, in which neither markup nor mentions of users have an effect.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "reports/io/formats/format.h"
#include "reports/text/markdown_text.h"
#include "reports/views/answer_table.h"
#include "reports/views/cases/case_table.h"
#include "reports/views/circumstances.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

std::string markdown_text(const Report& report) {
  std::string text;
  for (const ScenarioCases& group : by_scenario(report)) {
    text += fmt::format("### {}\n\n", code_span(group.scenario));
    const Answer* answer = find_answer(report, group.scenario);
    if (answer != nullptr) {
      text += fmt::format("→ {}\n\n", markdown_prose(answer->text));
      if (const auto table = answer_table(*answer)) text += markdown_table(*table) + '\n';
    }
    text += markdown_table(case_table(group)) + '\n';
  }
  for (const auto& notes :
       {notes_on_models(report), notes_on_file(report), process_errors(report)}) {
    for (const std::string& note : notes) text += markdown_prose(note) + "\n\n";
  }
  text += markdown_prose(counts_text(report)) + "\n\n";
  return text + markdown_prose(fmt::format("{}", fmt::join(machine_items(report), " · "))) + '\n';
}

}  // namespace parbench::report
