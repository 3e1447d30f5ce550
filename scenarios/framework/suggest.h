// Suggestions for mistyped words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parbench {

/// Returns the minimum number of insertions, deletions, replacements and swaps of neighbours that
/// turn one word into the other (optimal string alignment), ignoring the case of ASCII letters.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

/// Returns the candidate nearest to `word`: one within an edit distance of about a third of the
/// length of `word`, or, if `word` has at least three letters, a completion of it, which counts as
/// distance 1. Returns the first if several are equally near, and nothing if none is near enough or
/// `word` has fewer than two letters.
[[nodiscard]] std::optional<std::string> closest(std::string_view word,
                                                 const std::vector<std::string>& candidates);

/// Returns "; did you mean '…'?" to append to an error; empty if no candidate is near, or if `word`
/// equals the candidate with its prefix and is wrong for another reason. `prefix` precedes the
/// candidate, such as "--" for flags.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& candidates,
                                       std::string_view prefix = "");

}  // namespace parbench
