// Text in the columns of a terminal: its width, padding and wrapping.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace parbench::report {

/// Returns the number of columns of UTF-8 text: 0 for characters without a width, such as combining
/// marks and controls, 2 for East Asian wide characters and emoji, 1 for all others and for each
/// byte that is not UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

enum class Align { left, right };

/// Max length of a line of running text that is easy to read.
inline constexpr std::size_t max_line = 110;

/// The layout of text on a terminal.
struct TextStyle {
  std::size_t width = 120;  // columns; running text uses at most `max_line` of them
  bool color = false;       // bold and dim by ANSI escape sequences
};

/// Pads text with spaces to `width` columns; does not cut longer text.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width, Align align);

/// Breaks text at spaces into lines of at most `width` columns; a longer word gets its own line.
/// Line breaks in the text are kept. Never empty.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Makes untrusted text safe for one line of a terminal. Replaces by U+FFFD: control characters, so
/// that escape sequences have no effect; bytes that are not UTF-8; characters that change the
/// writing direction; and, unless `keep_line_breaks`, line breaks.
[[nodiscard]] std::string printable(std::string_view text, bool keep_line_breaks = false);

/// Returns whether a character is a letter or digit of ASCII.
[[nodiscard]] constexpr bool is_alphanumeric(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z');
}

/// Joins the texts of items, without empty ones. `text_of`: a function or a member of the items.
template <class Items, class TextOf = std::identity>
[[nodiscard]] std::string joined(const Items& items, std::string_view separator,
                                 const TextOf& text_of = {}) {
  std::string all;
  for (const auto& item : items) {
    const std::string text(std::invoke(text_of, item));
    if (!text.empty()) all.append(all.empty() ? "" : separator).append(text);
  }
  return all;
}

/// Returns the first 10 digits of a commit's hash; shortens another name of a commit (tag, version)
/// to 40 columns.
[[nodiscard]] std::string short_commit(std::string_view commit);

/// Cuts text to at most `width` columns; "…" replaces the missing rest.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

}  // namespace parbench::report
