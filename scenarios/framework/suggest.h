// Finds what a mistyped word was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parbench {

/// Fewest insertions, deletions, replacements and swaps of neighbours that turn one word into the
/// other (optimal string alignment), ignoring the case of ASCII letters.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

/// The candidate that is close enough to `word` to be what was meant: a completion of it, or within
/// about a third of its letters. The first of equally close ones.
[[nodiscard]] std::optional<std::string> closest(std::string_view word,
                                                 const std::vector<std::string>& candidates);

/// "; did you mean '…'?" to append to an error; nothing when no candidate is close, or when `word`
/// is the answer already, being wrong for another reason. `prefix` precedes the candidate, as "--"
/// does for flags.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& candidates,
                                       std::string_view prefix = "");

}  // namespace parbench
