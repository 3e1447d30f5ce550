// Wraps running text.
#include "reports/text/paragraph.h"

#include <algorithm>
#include <utility>

namespace parbench::report {

std::string joined_items(const std::vector<std::string>& items, const TextStyle& style,
                         Emphasis emphasis) {
  constexpr std::string_view separator = " · ";
  std::string text;
  std::string line;
  const auto finish_line = [&] {
    text += emphasised(std::exchange(line, {}), emphasis, style.color) + '\n';
  };
  const std::size_t width = std::min(style.width, max_line);
  for (const std::string& item : items) {
    const std::size_t longer = display_width(line) + display_width(separator) + display_width(item);
    if (!line.empty() && longer > width) finish_line();
    if (!line.empty()) line += separator;
    const std::vector<std::string> pieces = wrapped(line + item, width);
    for (const std::string& piece : pieces) {
      line = piece;
      if (&piece != &pieces.back()) finish_line();
    }
  }
  finish_line();
  return text;
}

std::string hanging(std::string_view lead, std::string_view text, const TextStyle& style,
                    Emphasis emphasis) {
  const std::size_t indent = display_width(lead);
  const std::size_t width = std::min(style.width, max_line);
  std::string result;
  for (const std::string& line : wrapped(text, std::max(width, indent + 20) - indent)) {
    result += result.empty() ? std::string(lead) : std::string(indent, ' ');
    result += emphasised(line, emphasis, style.color) + '\n';
  }
  return result;
}

}  // namespace parbench::report
