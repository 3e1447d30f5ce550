// Replaces words that are no JSON.
#include "reports/io/non_finite.h"

#include <algorithm>
#include <array>

namespace parbench::report {
namespace {

/// Returns the length of the word at the beginning; 0 without one.
std::size_t non_finite_length(std::string_view text) {
  for (const std::string_view word :
       std::array<std::string_view, 4>{"NaN", "-NaN", "Infinity", "-Infinity"}) {
    if (text.starts_with(word)) return word.size();
  }
  return 0;
}

/// Returns the length of a string with its quotes, or of what there is of it.
std::size_t string_length(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

}  // namespace

std::optional<std::string> with_null_for_non_finite(std::string_view text) {
  std::optional<std::string> result;
  std::size_t copied = 0;
  std::size_t at = 0;
  while ((at = text.find_first_of("\"-NI", at)) != std::string_view::npos) {
    if (text[at] == '"') {
      at += string_length(text.substr(at));
    } else if (const std::size_t length = non_finite_length(text.substr(at)); length > 0) {
      if (!result) result.emplace().reserve(text.size());
      result->append(text.substr(copied, at - copied)).append("null");
      copied = at += length;
    } else {
      ++at;
    }
  }
  if (result) result->append(text.substr(copied));
  return result;
}

}  // namespace parbench::report
