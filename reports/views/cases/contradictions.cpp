// Compares the quotient of two medians with the median of the rounds' ratios.
#include "reports/views/cases/contradictions.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "reports/statistics/statistics.h"

namespace parbench::report {
namespace {

std::set<int> rounds_of(const CaseResult& c) {
  std::set<int> rounds;
  for (const Sample& sample : c.samples) rounds.insert(sample.round);
  return rounds;
}

/// Returns whether two speedups differ by more than 10%, or by more than 3% if one is a gain and
/// the other a loss.
bool are_far_apart(double one, double other) {
  constexpr double opposite = 0.03;
  constexpr double far = 0.1;
  const double ratio = std::max(one, other) / std::min(one, other);
  return ratio > 1 + far || (ratio > 1 + opposite && (one - 1) * (other - 1) < 0);
}

/// Returns whether the quotient of two medians is outside of a speedup's interval or far from the
/// speedup.
bool contradicts(double quotient, const Ratio& speedup) {
  return speedup.above(quotient) || speedup.below(quotient) ||
         are_far_apart(quotient, speedup.value);
}

/// Returns the quotient of the medians over the common rounds, of which there is at least one.
double quotient_of_common_rounds(const CaseResult& c, const CaseResult& baseline) {
  const std::set<int> own = rounds_of(c);
  const std::set<int> other = rounds_of(baseline);
  const auto median_in = [](const CaseResult& one, const std::set<int>& rounds) {
    std::vector<double> seconds;
    for (const Sample& sample : one.samples) {
      if (rounds.contains(sample.round)) seconds.push_back(sample.seconds);
    }
    return median(seconds);
  };
  return median_in(baseline, own) / median_in(c, other);
}

/// Returns a mark if the quotient of two medians contradicts the speedup: `other_rounds_mark` if
/// the quotient over the common rounds does not, else `scattered_mark`. Empty without a
/// contradiction, and instead of `scattered_mark` for a small difference.
std::string_view contradiction_mark(const CaseResult& c, const CaseResult& baseline) {
  constexpr double remarkable = 0.02;
  const double quotient = baseline.statistics->median / c.statistics->median;
  if (!contradicts(quotient, *c.speedup)) return {};
  if (!has_several_processes(c) && rounds_of(c) != rounds_of(baseline) &&
      !contradicts(quotient_of_common_rounds(c, baseline), *c.speedup)) {
    return other_rounds_mark;
  }
  const double difference = std::abs(quotient - c.speedup->value);
  const bool is_large = difference > remarkable * c.speedup->value;
  return is_large || are_far_apart(quotient, c.speedup->value) ? scattered_mark
                                                               : std::string_view();
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
