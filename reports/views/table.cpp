// Paints a report for a terminal.
#include "reports/views/table.h"

#include "reports/model/printable.h"
#include "reports/text/paragraph.h"
#include "reports/views/answer_table.h"
#include "reports/views/cases/case_table.h"
#include "reports/views/circumstances.h"
#include "reports/views/finding_lines.h"
#include "reports/views/table_parts.h"

namespace parbench::report {
namespace {

std::string scenario_text(const ScenarioCases& group, const TextStyle& style) {
  const Report& report = *group.report;
  const Answer* answer = find_answer(report, group.scenario);
  std::string text = emphasised(group.scenario, Emphasis::bold, style.color) + '\n';
  if (answer != nullptr && !answer->question.empty()) {
    text += hanging("", answer->question, style.width, Emphasis::none, style.color);
  }
  text += to_text(case_table(group), style);
  bool has_answers = false;  // in a table
  if (answer != nullptr && !answer->text.empty()) {
    text += '\n' + hanging("→ ", answer->text, style.width, Emphasis::bold, style.color);
    for (const std::string& warning : answer->warnings) {
      text += hanging("! ", warning, style.width, Emphasis::none, style.color);
    }
    if (const auto table = answer_table(*answer)) {
      text += to_text(*table, style);
      has_answers = true;
    }
  }
  std::string findings;
  for (const std::string& line : finding_lines(group)) {
    findings += hanging("  · ", line, style.width, Emphasis::none, style.color);
  }
  if (const std::string line = limits_line(group); !line.empty()) {
    findings += hanging("    ", line, style.width, Emphasis::dim, style.color);
  }
  const bool has_both = has_answers && !findings.empty();
  return text + (has_both ? "\n" : "") + findings;
}

}  // namespace

std::string to_table(const Report& report, const TextStyle& style) {
  const Report shown = printable(report);
  std::string text = joined_items(machine_items(shown), style, Emphasis::dim);
  for (const std::string& note : notes_on_models(shown)) {
    text += hanging("! ", note, style.width, Emphasis::none, style.color);
  }
  text += '\n';
  for (const ScenarioCases& group : by_scenario(shown)) {
    text += scenario_text(group, style) + '\n';
  }
  for (const std::string& note : notes_on_file(shown)) {
    text += hanging("! ", note, style.width, Emphasis::none, style.color);
  }
  for (const std::string& error : process_errors(shown)) {
    text += hanging("! ", error, style.width, Emphasis::none, style.color);
  }
  return text + hanging("", counts_text(shown), style.width, Emphasis::none, style.color);
}

}  // namespace parbench::report
