// Escapes Markdown and formats tables.
#include "reports/text/markdown_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reports/text/text.h"

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

}  // namespace

/// The fence is longer than any run of backticks inside. A bar would end a table's cell even in
/// code, so it gets a backslash.
std::string code_span(std::string_view text) {
  if (text.empty()) return {};
  std::string inside;
  std::size_t run = 0;
  std::size_t longest = 0;
  for (const char letter : printable(text)) {
    run = letter == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (letter == '|') inside += '\\';
    inside += letter;
  }
  const std::string fence(longest + 1, '`');
  const std::string_view space = longest > 0 ? " " : "";
  return fmt::format("{0}{1}{2}{1}{0}", fence, space, inside);
}

/// GitHub searches for mentions, references and links after it has removed the markup. A backslash
/// does not prevent that search, but a word joiner does.
std::string markdown_prose(std::string_view text) {
  constexpr std::string_view markup = "\\`*_[]<>#|~&!$";
  constexpr std::array<std::string_view, 4> linked{"@", "#", "://", "www."};
  const std::string shown = printable(text);
  std::string result;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (markup.find(shown[i]) != std::string_view::npos) result += '\\';
    result += shown[i];
    const std::string_view rest = std::string_view(shown).substr(i);
    if (std::ranges::any_of(linked, [&](auto start) { return rest.starts_with(start); })) {
      result += "\u2060";
    }
  }
  return result;
}

std::string markdown_table(const Table& table) {
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
  for (const Footnote& note : table.footnotes) {
    text += fmt::format("\n{}\n", markdown_prose(whole_text(note)));
  }
  return text;
}

}  // namespace parbench::report
