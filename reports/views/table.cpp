// Formats a report for a terminal.
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

std::string warnings_text(const std::vector<std::string>& warnings, const TextStyle& style) {
  std::string text;
  for (const std::string& warning : warnings) text += hanging("! ", warning, style);
  return text;
}

std::string scenario_text(const ScenarioCases& group, const TextStyle& style) {
  const Answer* answer = find_answer(*group.report, group.scenario);
  std::string text = emphasised(group.scenario, Emphasis::bold, style.color) + '\n';
  if (answer != nullptr && !answer->question.empty()) {
    text += hanging("", answer->question, style);
  }
  text += to_text(case_table(group), style);
  bool has_answers = false;  // the answers are in a table
  if (answer != nullptr && !answer->text.empty()) {
    text += '\n' + hanging("→ ", answer->text, style, Emphasis::bold);
    text += warnings_text(answer->warnings, style);
    if (const auto table = answer_table(*answer)) {
      text += to_text(*table, style);
      has_answers = true;
    }
  }
  std::string findings;
  for (const std::string& line : finding_lines(group)) {
    findings += hanging("  · ", line, style);
  }
  if (const std::string line = limits_line(group); !line.empty()) {
    findings += hanging("    ", line, style, Emphasis::dim);
  }
  const bool has_both = has_answers && !findings.empty();
  return text + (has_both ? "\n" : "") + findings;
}

}  // namespace

std::string to_table(const Report& report, const TextStyle& style) {
  const Report shown = printable(report);
  std::string text = joined_items(machine_items(shown), style, Emphasis::dim);
  text += warnings_text(notes_on_models(shown), style) + '\n';
  for (const ScenarioCases& group : by_scenario(shown)) {
    text += scenario_text(group, style) + '\n';
  }
  text += warnings_text(notes_on_file(shown), style) + warnings_text(process_errors(shown), style);
  return text + hanging("", counts_text(shown), style);
}

}  // namespace parbench::report
