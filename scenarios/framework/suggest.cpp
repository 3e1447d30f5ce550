// Edit distance, and the choice of the nearest candidate.
#include "scenarios/framework/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace parbench {
namespace {

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table, because a swap of neighbours refers to the row before the
  // previous one.
  std::vector<int> before(b.size() + 1);
  std::vector<int> previous(b.size() + 1);
  std::vector<int> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min(
          {previous[j] + 1, current[j - 1] + 1, previous[j - 1] + static_cast<int>(!same)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::optional<std::string> closest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  constexpr std::size_t shortest_stem = 3;
  if (word.size() < 2) return std::nullopt;  // a single edit turns a letter into any other one
  const std::string* best = nullptr;
  int best_distance = std::max(1, static_cast<int>(word.size() + 1) / 3) + 1;
  for (const std::string& candidate : candidates) {
    const bool completion = word.size() >= shortest_stem && candidate.starts_with(word);
    const int distance = completion ? 1 : edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = &candidate;
    best_distance = distance;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view prefix) {
  const auto found = closest(word, candidates);
  if (!found) return {};
  const std::string meant = std::string(prefix) + *found;
  return meant == word ? std::string() : fmt::format("; did you mean '{}'?", meant);
}

}  // namespace parbench
