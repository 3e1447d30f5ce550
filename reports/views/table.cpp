// Paints a report for a terminal.
#include "reports/views/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "reports/findings/findings.h"
#include "reports/model/printable.h"
#include "reports/text/grid.h"
#include "reports/text/numbered_reasons.h"
#include "reports/text/paragraph.h"
#include "reports/views/case_table.h"
#include "reports/views/table_parts.h"

namespace parbench::report {
namespace {

/// Moves a unit that all cells share into the title: "images/s" above "44.3".
void move_unit_to_title(Column& column) {
  std::set<std::string> units;
  for (const std::string& cell : column.cells) {
    if (!cell.empty()) units.insert(cell.substr(std::min(cell.find(' '), cell.size())));
  }
  if (units.size() != 1 || units.begin()->empty()) return;
  column.title = units.begin()->substr(1);
  for (std::string& cell : column.cells) cell.erase(std::min(cell.find(' '), cell.size()));
}

/// Appends marks to texts. Where a column of numbers has any, the others get a space, so that the
/// numbers stay aligned.
std::string marked(const std::string& text, const std::string& mark, bool any_mark) {
  return text.empty() ? text : text + (mark.empty() && any_mark ? " " : mark);
}

Column value_column(const TableColumn& column) {
  Column values{column.title, {}, column.align};
  if (!column.subtitle.empty()) {
    values.upper_title = std::exchange(values.title, column.subtitle);
  }
  const bool any_mark =
      std::ranges::any_of(column.cells, [](const auto& cell) { return !cell.mark.empty(); });
  for (const TableCell& cell : column.cells) {
    values.cells.push_back(marked(cell.text, cell.mark, any_mark && cell.number));
  }
  if (column.unit_in_title) move_unit_to_title(values);
  return values;
}

Column range_column(const TableColumn& column) {
  Column ranges{column.range_title, {}, column.range_align, "", 1};
  const bool any_mark =
      column.range_align == Align::right &&
      std::ranges::any_of(column.cells, [](const auto& cell) { return !cell.range_mark.empty(); });
  for (const TableCell& cell : column.cells) {
    ranges.cells.push_back(marked(cell.range, cell.range_mark, any_mark));
  }
  return ranges;
}

/// Paints the table of a scenario.
std::string table_text(const CaseTable& table, const TextStyle& style) {
  Grid grid;
  Reasons reasons;
  for (const TableColumn& column : table.columns) {
    if (column.only_on_pages) continue;
    grid.columns.push_back(value_column(column));
    if (&column == &table.columns[table.first_number]) {
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        grid.columns.back().cells[row] += reasons.reference(table.rows[row].reason);
      }
    }
    if (!column.range_title.empty()) grid.columns.push_back(range_column(column));
  }
  for (const TableRow& row : table.rows) grid.emphasis.push_back(row.emphasis);
  std::string text;
  for (const auto& items : table.captions) text += joined_items(items, style, Emphasis::none);
  text += '\n' + grid.render(style.color);
  std::vector<Footnote> notes = table.footnotes;
  for (std::size_t i = 0; i < reasons.texts().size(); ++i) {
    notes.emplace_back(fmt::format("({})", i + 1), reasons.texts()[i]);
  }
  if (!notes.empty()) text += '\n';
  for (const auto& [mark, note] : notes) {
    text += hanging(mark + ' ', note, style.width, Emphasis::none, style.color);
  }
  return text;
}

// ----------------------------------------------------------------------------------------- report

std::string scenario_text(const Report& report, const std::string& scenario, const Cases& cases,
                          const TextStyle& style) {
  const Answer* answer = find_answer(report, scenario);
  std::string text = emphasised(scenario, Emphasis::bold, style.color) + '\n';
  if (answer != nullptr && !answer->question.empty()) {
    text += hanging("", answer->question, style.width, Emphasis::none, style.color);
  }
  text += table_text(case_table(cases), style);
  if (answer != nullptr && !answer->text.empty()) {
    text += '\n' + hanging("→ ", answer->text, style.width, Emphasis::bold, style.color);
  }
  for (const Finding* finding : findings_of(report, scenario)) {
    text += hanging("  · ", to_text(*finding), style.width, Emphasis::none, style.color);
  }
  return text;
}

}  // namespace

std::string to_table(const Report& report, const TextStyle& style) {
  const Report shown = printable(report);
  std::string text = joined_items(machine_items(shown), style, Emphasis::dim) + '\n';
  for (const ScenarioCases& group : by_scenario(shown)) {
    text += scenario_text(shown, group.scenario, group.cases, style) + '\n';
  }
  for (const std::string& error : process_errors(shown)) {
    text += hanging("! ", error, style.width, Emphasis::none, style.color);
  }
  return text + hanging("", counts_text(shown), style.width, Emphasis::none, style.color);
}

}  // namespace parbench::report
