// Lays out tables of text.
#include "reports/text/grid.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "reports/text/paragraph.h"

namespace parbench::report {
namespace {

/// Max width of a cell. All cells of a column are padded to its widest one, and the texts of
/// untrusted reports may be long.
constexpr std::size_t widest_cell = 160;

constexpr int any_rank = std::numeric_limits<int>::max();

struct Laid {
  const Column* column;
  std::size_t width;
};

std::vector<Laid> laid_out(const std::vector<Column>& columns) {
  std::vector<Laid> result;
  for (const Column& column : columns) {
    std::size_t width = 0;
    for (const std::string& cell : column.cells) width = std::max(width, display_width(cell));
    if (width == 0) continue;
    width = std::max({width, display_width(column.title), display_width(column.upper_title)});
    result.push_back({&column, std::min(width, widest_cell)});
  }
  return result;
}

/// Indentation of rows below headings on lines of their own.
constexpr std::size_t row_indent = 2;

std::size_t laid_width(const std::vector<Laid>& laid) {
  std::size_t width = 0;
  for (const auto& [column, own] : laid) {
    width += own + (column == laid.front().column ? 0 : column->gap);
  }
  return width;
}

using Cell = std::function<const std::string&(const Column&)>;

std::string line(const std::vector<Laid>& laid, const Cell& cell) {
  std::string text;
  for (const auto& [column, width] : laid) {
    if (!text.empty() || column != laid.front().column) text.append(column->gap, ' ');
    text += padded(shortened(cell(*column), width), width, column->align);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string rule(std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += "─";
  return text;
}

/// Returns the headings of a row as text: "pipeline, split 12".
std::string heading_of(const std::vector<Column>& columns, std::size_t row) {
  std::string text;
  for (const Column& column : columns) {
    if (!column.narrow.is_heading || column.cells[row].empty()) continue;
    if (column.cells[row] == not_applicable) continue;
    text += text.empty() ? column.cells[row] : ", " + column.title + ' ' + column.cells[row];
  }
  return text;
}

/// Returns whether a value is clear without the title of its column: "gpipe" and "256KiB" are, "12"
/// and "none" are not.
bool names_itself(const std::string& value) {
  constexpr std::array<std::string_view, 4> unspecific{"true", "false", "none", "all"};
  const auto is_letter = [](unsigned char letter) { return std::isalpha(letter) != 0; };
  return std::ranges::any_of(value, is_letter) &&
         std::ranges::find(unspecific, value) == unspecific.end();
}

/// Returns the headings of a row in few words: "pipeline split 12 gpipe".
std::string short_heading_of(const std::vector<Column>& columns, std::size_t row) {
  std::string text;
  for (const Column& column : columns) {
    const std::string& value = column.cells[row];
    if (!column.narrow.is_heading || value.empty() || value == not_applicable) continue;
    text += (text.empty() ? "" : " ") + (names_itself(value) ? value : column.title + ' ' + value);
  }
  return text;
}

/// Returns one column for all headings, followed by the other columns.
std::vector<Column> joined_headings(const std::vector<Column>& columns) {
  std::vector<Column> joined{
      {.title = "case", .align = Align::left, .narrow = {.is_heading = true}}};
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    joined.front().cells.push_back(short_heading_of(columns, row));
  }
  std::ranges::copy_if(columns, std::back_inserter(joined),
                       [](const Column& column) { return !column.narrow.is_heading; });
  return joined;
}

/// Wraps text into lines; the last one has no line break.
std::string wrapped_text(const std::string& text, std::size_t width) {
  std::string lines = hanging("", text, {.width = width});
  lines.pop_back();
  return lines;
}

/// Moves the heading columns to lines above their rows.
void stack(Grid& grid, std::size_t width) {
  for (std::size_t row = 0; row < grid.emphasis.size(); ++row) {
    grid.headings.push_back(wrapped_text(heading_of(grid.columns, row), width));
  }
  for (const Column& column : grid.columns) {
    if (column.narrow.is_heading) {
      grid.headings_title += (grid.headings_title.empty() ? "" : ", ") + column.title;
    }
  }
  grid.headings_title = wrapped_text(grid.headings_title, width);
  std::erase_if(grid.columns, [](const Column& column) { return column.narrow.is_heading; });
}

/// Leaves out columns with a rank below `end`, except those of rank 0 and those that fit when
/// columns are added in descending order of rank. Returns the names of the columns left out.
std::vector<std::string> drop(Grid& grid, std::size_t width, int end) {
  const std::vector<Column> all = std::move(grid.columns);
  std::set<int, std::greater<>> ranks;
  for (const Column& column : all) ranks.insert(column.narrow.rank);
  std::set<int> kept{0};
  const auto keep = [&](int rank) {
    kept.insert(rank);
    grid.columns.clear();
    std::ranges::copy_if(all, std::back_inserter(grid.columns),
                         [&](const Column& column) { return kept.contains(column.narrow.rank); });
  };
  keep(0);
  for (const int rank : ranks) {
    keep(rank);
    if (rank == 0 || rank >= end || grid.width() <= width) continue;
    kept.erase(rank);
    keep(0);
  }
  std::vector<std::string> dropped;
  for (const Column& column : all) {
    const bool is_known = std::ranges::find(dropped, column.name) != dropped.end();
    if (!kept.contains(column.narrow.rank) && !is_known) dropped.push_back(column.name);
  }
  return dropped;
}

std::ptrdiff_t important_columns(const Grid& grid) {
  return std::ranges::count_if(grid.columns, [](const Column& column) {
    return column.narrow.rank == 0 || column.narrow.rank >= Narrow::important_rank;
  });
}

bool has_needed(const std::vector<Column>& columns) {
  return std::ranges::any_of(
      columns, [](const Column& column) { return column.narrow.rank >= Narrow::needed_rank; });
}

/// Leaves out columns until the grid fits. Joins the headings if the grid fits only then, or if
/// that keeps more important columns. Returns the names of the columns left out, or nothing if the
/// grid does not fit either way.
std::optional<std::vector<std::string>> fit_in_lines(Grid& grid, std::size_t width) {
  Grid apart = grid;
  Grid joined = grid;
  joined.columns = joined_headings(grid.columns);
  // In `joined`, one column replaces these.
  const auto headings = std::ranges::count_if(
      grid.columns, [](const Column& column) { return column.narrow.is_heading; });
  std::vector<std::string> missing_apart = drop(apart, width, any_rank);
  std::vector<std::string> missing_joined = drop(joined, width, any_rank);
  const bool fits = apart.width() <= width;
  const bool is_better =
      !fits || important_columns(joined) - 1 > important_columns(apart) - headings;
  if (joined.width() <= width && is_better) {
    grid = std::move(joined);
    return missing_joined;
  }
  if (!fits) return std::nullopt;
  grid = std::move(apart);
  return missing_apart;
}

}  // namespace

std::string emphasised(std::string text, Emphasis emphasis, bool color) {
  if (!color || emphasis == Emphasis::none || text.empty()) return text;
  return (emphasis == Emphasis::bold ? "\033[1m" : "\033[2m") + std::move(text) + "\033[0m";
}

std::size_t Grid::width() const {
  return laid_width(laid_out(columns)) + (headings.empty() ? 0 : row_indent);
}

std::vector<std::string> Grid::fit(std::size_t width) {
  if (this->width() <= width) return {};
  const std::vector<Column> all = columns;
  std::vector<std::string> dropped = drop(*this, width, Narrow::important_rank);
  if (this->width() <= width || !std::ranges::any_of(all, &Narrow::is_heading, &Column::narrow)) {
    return dropped;
  }
  columns = all;
  if (joins_headings) {
    auto missing = fit_in_lines(*this, width);
    if (missing && has_needed(columns) == has_needed(all)) return *std::move(missing);
    columns = all;
  }
  stack(*this, width);
  return drop(*this, width, any_rank);
}

std::string Grid::render(bool color) const {
  const std::vector<Laid> laid = laid_out(columns);
  std::string text;
  const auto add = [&](std::string content, Emphasis how) {
    text += emphasised(std::move(content), how, color) + '\n';
  };
  const auto add_row = [&](const std::string& content, Emphasis how) {
    add((headings.empty() ? "" : std::string(row_indent, ' ')) + content, how);
  };
  if (!headings.empty()) add(headings_title, Emphasis::dim);
  const std::string upper =
      line(laid, [](const Column& c) -> const std::string& { return c.upper_title; });
  if (!upper.empty()) add_row(upper, Emphasis::dim);
  add_row(line(laid, [](const Column& c) -> const std::string& { return c.title; }), Emphasis::dim);
  add(rule(width()), Emphasis::dim);
  for (std::size_t row = 0; row < emphasis.size(); ++row) {
    if (!headings.empty()) add(headings[row], emphasis[row]);
    add_row(line(laid, [row](const Column& c) -> const std::string& { return c.cells.at(row); }),
            emphasis[row]);
  }
  return text;
}

}  // namespace parbench::report
