// Which order pays, and how near it comes to what the graph allows.
#include "scenarios/graph/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/requests.h"

namespace parbench {
namespace {

constexpr std::string_view dependent_strategy = "by-dependency";

/// The bounds of the plans by dependency as shares of the times in program order, in ascending
/// order.
std::vector<double> bounds_of(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes) {
  std::vector<double> shares;
  for (const CaseOutcome& one : outcomes) {
    if (one.spec.strategy != dependent_strategy || one.efficiency <= 0) continue;
    const CaseSpec in_turn = with_strategy(one.spec, scenario.baseline());
    const auto found = std::ranges::find(outcomes, in_turn, &CaseOutcome::spec);
    if (found == outcomes.end()) continue;
    shares.push_back(one.efficiency * one.median_seconds / found->median_seconds);
  }
  std::ranges::sort(shares);
  return shares;
}

std::string bound_text(const std::vector<double>& shares) {
  if (shares.empty()) return {};
  std::string share = fmt::format("{:.0f}%", 100 * shares.front());
  const std::string largest = fmt::format("{:.0f}%", 100 * shares.back());
  if (largest != share) share += " to " + largest;
  return fmt::format(
      " The bound, by critical path and busiest device, is {} of the sequential time.", share);
}

}  // namespace

Conclusion graph_answer(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes,
                        const PossiblyFastest& possibly_fastest) {
  Conclusion made = best_strategy(scenario, outcomes, possibly_fastest);
  if (made.is_answered) {
    made.text = joined_sentences({made.text, bound_text(bounds_of(scenario, outcomes))});
  }
  return made;
}

}  // namespace parbench
