// Measures, pads and wraps UTF-8 text.
#include "reports/text/text.h"

#include <utf8proc.h>

#include <algorithm>

namespace parbench::report {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
};

constexpr char32_t replacement = 0xFFFD;

/// Returns the first code point of non-empty text; a malformed byte counts as U+FFFD.
CodePoint decode(std::string_view text) {
  utf8proc_int32_t value = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &value);
  if (bytes <= 0) return {replacement, 1};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(bytes)};
}

bool is_control(char32_t value) { return value < 0x20 || (value >= 0x7F && value < 0xA0); }

/// Returns whether a character embeds, overrides or isolates a writing direction.
bool changes_direction(char32_t value) {
  return (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
}

/// Returns whether text is a Git hash: SHA-1 or SHA-256 in hexadecimal digits.
bool is_hash(std::string_view text) {
  const bool has_length = text.size() == 40 || text.size() == 64;
  return has_length && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::size_t width_of(char32_t value) {
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(value)));
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
    const bool replaced = next.value == replacement ||
                          (!kept && (is_control(next.value) || changes_direction(next.value)));
    result += replaced ? std::string_view("\uFFFD") : text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string short_commit(std::string_view commit) {
  constexpr std::size_t digits = 10;
  constexpr std::size_t columns = 40;
  return is_hash(commit) ? std::string(commit.substr(0, digits)) : shortened(commit, columns);
}

std::string shortened(std::string_view text, std::size_t width) {
  // limits combining marks, which have no width
  constexpr std::size_t max_bytes_of_column = 8;
  std::size_t columns = 0;
  std::size_t fitting = 0;  // bytes of text beside which the ellipsis fits
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint next = decode(text.substr(bytes));
    columns += width_of(next.value);
    bytes += next.bytes;
    if (columns > width || bytes > width * max_bytes_of_column) {
      return std::string(text.substr(0, fitting)) + "…";
    }
    if (columns < width) fitting = bytes;
  }
  return std::string(text);
}

}  // namespace parbench::report
