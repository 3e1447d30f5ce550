// Formats tables for a terminal.
#include "reports/text/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "reports/text/paragraph.h"

namespace parbench::report {
namespace {

/// Numbered reasons of rows; equal reasons share a number.
class Reasons {
 public:
  /// Returns the number of a reason as text, " (2)"; empty for an empty reason.
  std::string reference(const std::string& reason) {
    if (reason.empty()) return {};
    const auto [known, is_new] = numbers_.emplace(reason, texts_.size() + 1);
    if (is_new) texts_.push_back(reason);
    return fmt::format(" ({})", known->second);
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

/// Replaces the title by a unit that all cells with text share: "images/s" above "44.3".
void move_unit_to_title(Column& column) {
  std::set<std::string> units;
  for (const std::string& cell : column.cells) {
    if (!cell.empty()) units.insert(cell.substr(std::min(cell.find(' '), cell.size())));
  }
  if (units.size() != 1 || units.begin()->empty()) return;
  column.title = units.begin()->substr(1);
  for (std::string& cell : column.cells) cell.erase(std::min(cell.find(' '), cell.size()));
}

/// Appends a mark to text. If `any_mark`, a text without a mark gets a space instead, so that
/// numbers stay aligned with those that have a mark.
std::string marked(const std::string& text, const std::string& mark, bool any_mark) {
  return printable(text.empty() ? text : text + (mark.empty() && any_mark ? " " : mark));
}

std::string name_of(const TableColumn& column) { return printable(whole_title(column)); }

Column value_column(const TableColumn& column) {
  Column values{.title = printable(column.title),
                .align = column.align,
                .narrow = column.narrow,
                .name = name_of(column)};
  if (!column.subtitle.empty()) {
    values.upper_title = std::exchange(values.title, printable(column.subtitle));
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
  Column ranges{.title = printable(column.range_title),
                .align = column.range_align,
                .gap = 1,
                .narrow = {.rank = column.range_rank > 0 ? column.range_rank : column.narrow.rank},
                .name = column.range_rank > 0 ? printable(column.range_title) : name_of(column)};
  const bool any_mark =
      column.range_align == Align::right &&
      std::ranges::any_of(column.cells, [](const auto& cell) { return !cell.range_mark.empty(); });
  for (const TableCell& cell : column.cells) {
    ranges.cells.push_back(marked(cell.range, cell.range_mark, any_mark));
  }
  return ranges;
}

/// Returns the columns for a terminal; the cells of the status column end with the number of the
/// row's reason.
Grid grid_of(const Table& table, Reasons& reasons) {
  Grid grid;
  grid.joins_headings = table.joins_headings;
  for (const TableColumn& column : table.columns) {
    if (column.only_on_pages) continue;
    grid.columns.push_back(value_column(column));
    if (&column == &table.columns[table.status_column]) {
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        grid.columns.back().cells[row] += reasons.reference(table.rows[row].reason);
      }
    }
    if (!column.range_title.empty()) grid.columns.push_back(range_column(column));
  }
  for (const TableRow& row : table.rows) grid.emphasis.push_back(row.emphasis);
  return grid;
}

/// Returns whether a footnote's mark is part of a cell of the grid, or is a column's title with a
/// colon; true for an empty mark.
bool has_mark(const Grid& grid, const std::string& mark) {
  return std::ranges::any_of(grid.columns, [&](const Column& column) {
    if (column.title + ':' == printable(mark)) return true;
    return std::ranges::any_of(column.cells, [&](const std::string& cell) {
      return cell.find(printable(mark)) != std::string::npos;
    });
  });
}

std::string missing_text(const std::vector<std::string>& names, std::size_t width,
                         std::size_t full_width, const std::string& complete_in) {
  return fmt::format("not shown at {} columns: {}; --width {} or {} has all", width,
                     fmt::join(names, ", "), full_width, complete_in);
}

}  // namespace

std::string to_text(const Table& table, const TextStyle& style) {
  Reasons reasons;
  Grid grid = grid_of(table, reasons);
  const std::size_t full_width = grid.width();
  const std::vector<std::string> missing = grid.fit(style.width);
  std::string text;
  for (auto items : table.captions) {
    for (std::string& item : items) item = printable(item);
    text += joined_items(items, style, Emphasis::none);
  }
  if (!text.empty()) text += '\n';
  text += grid.render(style.color);
  const auto note_below = [&](const std::string& note, const std::string& lead) {
    text += hanging(lead, printable(note, true), style);
  };
  if (!missing.empty()) {
    note_below(missing_text(missing, style.width, full_width, table.complete_in), "");
  }
  std::vector<Footnote> notes = table.footnotes;
  std::erase_if(notes, [&](const Footnote& note) { return !has_mark(grid, note.first); });
  for (std::size_t i = 0; i < reasons.texts().size(); ++i) {
    notes.emplace_back(fmt::format("({})", i + 1), reasons.texts()[i]);
  }
  if (!notes.empty()) text += '\n';
  for (const auto& [mark, note] : notes) {
    note_below(note, mark.empty() ? "" : mark + ' ');
  }
  return text;
}

std::string whole_title(const TableColumn& column) {
  return joined(std::array{column.title, column.range_title, column.subtitle}, " ");
}

std::string whole_text(const Footnote& note) {
  return joined(std::array{note.first, note.second}, " ");
}

std::string whole_text(const TableCell& cell) {
  return joined(std::array{cell.text + cell.mark, cell.range + cell.range_mark}, " ");
}

}  // namespace parbench::report
