// Display width of UTF-8 text, filling and wrapping.
#include "reports/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace parbench::report {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
};

/// The first code point of non-empty text; a malformed byte counts as itself.
CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  std::size_t bytes = 1;
  if (lead >= 0xF0 && lead < 0xF8) bytes = 4;
  if (lead >= 0xE0 && lead < 0xF0) bytes = 3;
  if (lead >= 0xC2 && lead < 0xE0) bytes = 2;
  const CodePoint malformed{U'?', 1};
  if (bytes == 1) return lead < 0x80 ? CodePoint{lead, 1} : malformed;
  if (text.size() < bytes) return malformed;
  char32_t value = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return malformed;
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  return {value, bytes};
}

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool in_any(const std::array<Range, N>& ranges, char32_t value) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return r.first <= value && value <= r.last; });
}

/// The blocks of combining marks, joiners and variation selectors.
constexpr std::array<Range, 7> zero_width{{{0x0300, 0x036F},
                                           {0x1AB0, 0x1AFF},
                                           {0x1DC0, 0x1DFF},
                                           {0x200B, 0x200F},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE0F},
                                           {0xFE20, 0xFE2F}}};
/// The blocks that Unicode's East Asian Width gives as wide or full-width.
constexpr std::array<Range, 9> double_width{{{0x1100, 0x115F},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0x1F300, 0x1F9FF},
                                             {0x20000, 0x3FFFD}}};

/// The characters that embed, override or isolate a direction of writing.
constexpr std::array<Range, 2> directions{{{0x202A, 0x202E}, {0x2066, 0x2069}}};

bool is_control(char32_t value) { return value < 0x20 || (value >= 0x7F && value < 0xA0); }

std::size_t width_of(char32_t value) {
  if (is_control(value)) return 0;
  if (in_any(zero_width, value)) return 0;
  return in_any(double_width, value) ? 2 : 1;
}

void wrap_line(std::string_view line, std::size_t width, std::vector<std::string>& lines) {
  std::string current;
  std::size_t current_width = 0;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.empty()) continue;
    const std::size_t word_width = display_width(word);
    if (!current.empty() && current_width + 1 + word_width > width) {
      lines.push_back(std::move(current));
      current.clear();
      current_width = 0;
    }
    if (!current.empty()) {
      current += ' ';
      ++current_width;
    }
    current += word;
    current_width += word_width;
  }
  lines.push_back(std::move(current));
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint next = decode(text);
    width += width_of(next.value);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string padded(std::string_view text, std::size_t width, Align align) {
  const std::size_t own = display_width(text);
  const std::string fill(width > own ? width - own : 0, ' ');
  return align == Align::left ? std::string(text) + fill : fill + std::string(text);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    wrap_line(text.substr(begin, end - begin), width, lines);
    begin = end + 1;
  }
  return lines;
}

std::string printable(std::string_view text, bool keep_line_breaks) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = decode(text);
    const bool kept = keep_line_breaks && next.value == U'\n';
    const bool harmful = !kept && (is_control(next.value) || in_any(directions, next.value));
    result += harmful ? std::string_view("\uFFFD") : text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t width) {
  constexpr std::size_t most_bytes_of_column = 8;  // marks without a width do not go on for ever
  std::size_t columns = 0;
  std::size_t fitting = 0;  // bytes, with room for the ellipsis
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint next = decode(text.substr(bytes));
    columns += width_of(next.value);
    bytes += next.bytes;
    if (columns > width || bytes > width * most_bytes_of_column) {
      return std::string(text.substr(0, fitting)) + "…";
    }
    if (columns < width) fitting = bytes;
  }
  return std::string(text);
}

}  // namespace parbench::report
