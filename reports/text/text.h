// Text in columns of a terminal: how wide it is, and filling and wrapping it to a width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace parbench::report {

/// Columns that UTF-8 text takes: 0 for combining marks and controls, 2 for East Asian wide
/// characters and emoji, 1 for the rest and for each byte that is not UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

enum class Align { left, right };

/// The longest line of running text that is easy to read.
inline constexpr std::size_t max_line = 110;

/// How text is laid out for a terminal.
struct TextStyle {
  std::size_t width = 120;  // columns; running text takes no more than `max_line` of them
  bool color = false;       // bold and dim by ANSI escape sequences
};

/// Fills with spaces up to `width` columns; longer text is returned as it is.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width, Align align);

/// Breaks at spaces into lines of at most `width` columns; a longer word has a line of its own.
/// Line breaks in the text are kept. Never empty.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Text of others made harmless for a terminal and a line: control characters, among them escape
/// sequences and those that change the direction of text, become U+FFFD; line breaks too, unless
/// `keep_line_breaks`.
[[nodiscard]] std::string printable(std::string_view text, bool keep_line_breaks = false);

/// Returns the beginning of a commit's hash, by which people know it, or another name of a commit
/// (a tag, a version), `shortened` where it is long.
[[nodiscard]] std::string short_commit(std::string_view commit);

/// Cut to at most `width` columns, with "…" where something is missing.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

}  // namespace parbench::report
