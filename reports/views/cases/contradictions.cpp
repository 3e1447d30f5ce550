// Compares the quotient of two medians with the median of the ratios of their rounds.
#include "reports/views/cases/contradictions.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace parbench::report {
namespace {

/// The rounds in which a case was sampled.
std::set<int> rounds_of(const CaseResult& c) {
  std::set<int> rounds;
  for (const Sample& sample : c.samples) rounds.insert(sample.round);
  return rounds;
}

/// Whether two speedups say the opposite of each other, or differ much.
bool are_far_apart(double one, double other) {
  constexpr double opposite = 0.03;
  constexpr double far = 0.1;
  const double ratio = std::max(one, other) / std::min(one, other);
  return ratio > 1 + far || (ratio > 1 + opposite && (one - 1) * (other - 1) < 0);
}

/// Returns a mark if the quotient of two medians lies outside of the interval of the speedup, or
/// far from it: one of them has samples from rounds that the other has not, or the quotients of the
/// rounds scatter so much that their median is another one. Empty otherwise, and for a small
/// difference in the same rounds.
std::string_view contradiction_mark(const CaseResult& c, const CaseResult& baseline) {
  constexpr double remarkable = 0.02;
  const double quotient = baseline.statistics->median / c.statistics->median;
  const bool is_outside = c.speedup->above(quotient) || c.speedup->below(quotient);
  const bool is_far = are_far_apart(quotient, c.speedup->value);
  if (!is_outside && !is_far) return {};
  if (!has_several_processes(c) && rounds_of(c) != rounds_of(baseline)) return other_rounds_mark;
  const double difference = std::abs(quotient - c.speedup->value);
  return is_far || difference > remarkable * c.speedup->value ? scattered_mark : std::string_view();
}

}  // namespace

ContradictionMarks contradiction_marks(const Cases& cases) {
  std::map<std::string_view, const CaseResult*> by_name;
  for (const CaseResult* c : cases) by_name.emplace(c->name, c);
  ContradictionMarks found;
  for (const CaseResult* c : cases) {
    if (!has_number(*c) || !c->speedup) continue;
    const auto baseline = by_name.find(c->speedup->baseline);
    if (baseline == by_name.end() || !has_number(*baseline->second)) continue;
    const std::string_view mark = contradiction_mark(*c, *baseline->second);
    if (!mark.empty()) found.emplace(c, mark);
  }
  return found;
}

}  // namespace parbench::report
