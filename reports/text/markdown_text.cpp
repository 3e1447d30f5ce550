// Escapes Markdown.
#include "reports/text/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text/text.h"

namespace parbench::report {

/// The fence is longer than any run of backticks inside; a backslash keeps a bar from ending a
/// table's cell, in code as well.
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

/// GitHub looks for mentions after the markup, so that a backslash does not help there, but a word
/// joiner does.
std::string markdown_prose(std::string_view text) {
  constexpr std::string_view markup = "\\`*_[]<>#|~&!$";
  std::string result;
  for (const char letter : printable(text)) {
    if (markup.find(letter) != std::string_view::npos) result += '\\';
    result += letter;
    if (letter == '@') result += "\u2060";
  }
  return result;
}

}  // namespace parbench::report
