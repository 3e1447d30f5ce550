// Tables in GitHub's Markdown (github.github.com/gfm), one for each scenario with its answer. Names
// and reasons stand in code spans, where neither markup nor a mention of a user has an effect.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/io/formats/format.h"
#include "reports/text/markdown_text.h"
#include "reports/views/case_table.h"
#include "reports/views/table_parts.h"

namespace parbench::report {
namespace {

std::string cell_text(const TableColumn& column, const TableCell& cell) {
  const std::string text = whole_text(cell);
  return column.verbatim && text != not_applicable ? code_span(text) : markdown_prose(text);
}

std::string title_text(const TableColumn& column) {
  const std::string title = whole_title(column);
  return column.verbatim_title ? code_span(title) : markdown_prose(title);
}

/// Paints the table of a scenario; a last column has the reasons of the rows without numbers.
std::string table_text(const CaseTable& table) {
  std::string text;
  for (const auto& items : table.captions) {
    if (items.empty()) continue;
    text += markdown_prose(fmt::format("{}", fmt::join(items, " · "))) + "\n\n";
  }
  std::string rule = "|";
  std::vector<std::string> lines(table.rows.size(), "|");
  text += '|';
  for (const TableColumn& column : table.columns) {
    if (column.only_on_pages) continue;
    text += fmt::format(" {} |", title_text(column));
    rule += column.align == Align::left ? " :-- |" : " --: |";
    for (std::size_t row = 0; row < lines.size(); ++row) {
      lines[row] += fmt::format(" {} |", cell_text(column, column.cells[row]));
    }
  }
  if (std::ranges::any_of(table.rows, [](const auto& row) { return !row.reason.empty(); })) {
    text += " reason |";
    rule += " :-- |";
    for (std::size_t row = 0; row < lines.size(); ++row) {
      lines[row] += fmt::format(" {} |", code_span(table.rows[row].reason));
    }
  }
  text += '\n' + rule + '\n';
  for (const std::string& line : lines) text += line + '\n';
  for (const auto& [mark, note] : table.footnotes) {
    text += fmt::format("\n{} {}\n", markdown_prose(mark), markdown_prose(note));
  }
  return text;
}

}  // namespace

std::string markdown_text(const Report& report) {
  std::string text;
  for (const ScenarioCases& group : by_scenario(report)) {
    text += fmt::format("### {}\n\n", code_span(group.scenario));
    const Answer* answer = find_answer(report, group.scenario);
    if (answer != nullptr) text += fmt::format("→ {}\n\n", markdown_prose(answer->text));
    text += table_text(case_table(group.cases)) + '\n';
  }
  for (const std::string& error : process_errors(report)) text += markdown_prose(error) + "\n\n";
  text += markdown_prose(counts_text(report)) + "\n\n";
  return text + markdown_prose(fmt::format("{}", fmt::join(machine_items(report), " · "))) + '\n';
}

}  // namespace parbench::report
