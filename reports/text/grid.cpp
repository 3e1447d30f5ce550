// Lays out tables of text.
#include "reports/text/grid.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace parbench::report {
namespace {

/// Reports are untrusted: a cell may be of any length, and every row is as wide as the widest.
constexpr std::size_t widest_cell = 160;

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

std::string rule(const std::vector<Laid>& laid) {
  std::string text;
  for (const auto& [column, width] : laid) {
    const std::size_t gap = column == laid.front().column ? 0 : column->gap;
    for (std::size_t i = 0; i < width + gap; ++i) text += "─";
  }
  return text;
}

}  // namespace

std::string emphasised(std::string text, Emphasis emphasis, bool color) {
  if (!color || emphasis == Emphasis::none || text.empty()) return text;
  return (emphasis == Emphasis::bold ? "\033[1m" : "\033[2m") + std::move(text) + "\033[0m";
}

std::string Grid::render(bool color) const {
  const std::vector<Laid> laid = laid_out(columns);
  std::string text;
  const auto add = [&](std::string content, Emphasis how) {
    text += emphasised(std::move(content), how, color) + '\n';
  };
  const std::string upper =
      line(laid, [](const Column& c) -> const std::string& { return c.upper_title; });
  if (!upper.empty()) add(upper, Emphasis::dim);
  add(line(laid, [](const Column& c) -> const std::string& { return c.title; }), Emphasis::dim);
  add(rule(laid), Emphasis::dim);
  for (std::size_t row = 0; row < emphasis.size(); ++row) {
    add(line(laid, [row](const Column& c) -> const std::string& { return c.cells.at(row); }),
        emphasis[row]);
  }
  return text;
}

}  // namespace parbench::report
