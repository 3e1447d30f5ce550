// Which order pays, and how near it comes to what the graph allows.
#include "scenarios/graph/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/requests.h"

namespace parbench {
namespace {

constexpr std::string_view dependent_strategy = "by-dependency";

/// The minimum times of plans by dependency as shares of the times in program order, at most all of
/// these: costs of tasks are measured too.
struct PlanLimits {
  std::vector<double> critical_path;
  std::vector<double> bound;
  std::size_t without = 0;  // plans without a bound or without a time in program order
};

PlanLimits limits_of(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes) {
  PlanLimits shares;
  for (const CaseOutcome& one : outcomes) {
    if (one.spec.strategy != dependent_strategy) continue;
    const CaseSpec in_turn = with_strategy(one.spec, scenario.baseline());
    const auto found = std::ranges::find(outcomes, in_turn, &CaseOutcome::spec);
    if (found == outcomes.end() || one.efficiency <= 0) {
      ++shares.without;
      continue;
    }
    const auto share_of = [&](double seconds) {
      return std::min(1.0, seconds / found->median_seconds);
    };
    shares.critical_path.push_back(share_of(one.critical_path));
    shares.bound.push_back(share_of(one.efficiency * one.median_seconds));
  }
  return shares;
}

/// "63%", or "40% to 63%" of several.
std::string range_text(const std::vector<double>& shares) {
  const auto [min, max] = std::ranges::minmax(shares);
  const std::string first = fmt::format("{:.0f}%", 100 * min);
  const std::string last = fmt::format("{:.0f}%", 100 * max);
  return first == last ? first : fmt::format("{} to {}", first, last);
}

std::string limits_text(const PlanLimits& shares) {
  if (shares.bound.empty()) return {};
  const std::size_t known = shares.bound.size();
  const std::string where =
      shares.without == 0 ? " The"
                          : fmt::format(" At {} of {}, the", known,
                                        report::format_count(known + shares.without, "setting"));
  return fmt::format(
      "{} longest chain of dependencies takes {} of the sequential time; no order takes less than "
      "{}.",
      where, range_text(shares.critical_path), range_text(shares.bound));
}

}  // namespace

Conclusion graph_answer(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes,
                        const PossiblyFastest& possibly_fastest) {
  Conclusion made = best_strategy(scenario, outcomes, possibly_fastest);
  if (made.is_answered) {
    made.text = joined_sentences({made.text, limits_text(limits_of(scenario, outcomes))});
  }
  return made;
}

}  // namespace parbench
