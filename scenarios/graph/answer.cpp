// Recommends an order, and compares times with the limits that the graph sets.
#include "scenarios/graph/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "kernels/base/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"

namespace parbench {
namespace {

/// Minimum times of plans on several devices relative to the times in program order, one for each
/// setting. Each is the smallest over all orders, because costs of tasks are measured and differ;
/// at most 1.
struct PlanLimits {
  std::vector<double> critical_path;
  std::vector<double> bound;
  std::size_t without = 0;  // settings without a bound
  std::size_t devices = 0;
};

PlanLimits limits_of(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes) {
  PlanLimits limits;
  for (const CaseOutcome& in_turn : outcomes) {
    if (in_turn.spec.strategy != scenario.baseline()) continue;
    double path = 1;
    double bound = 1;
    bool is_known = false;
    for (const CaseOutcome& one : outcomes) {
      if (one.spec.strategy == scenario.baseline() || uses_all_cores(one.spec)) continue;
      if (with_strategy(one.spec, scenario.baseline()) != in_turn.spec) continue;
      if (one.efficiency <= 0) continue;
      is_known = true;
      path = std::min(path, one.critical_path / in_turn.median_seconds);
      bound = std::min(bound, one.efficiency * one.median_seconds / in_turn.median_seconds);
      limits.devices = static_cast<std::size_t>(one.spec.parameters.integer(devices_parameter));
    }
    if (!is_known) {
      ++limits.without;
      continue;
    }
    limits.critical_path.push_back(path);
    limits.bound.push_back(bound);
  }
  return limits;
}

/// Returns "63%", or "40% to 63%" for several.
std::string shares_text(const std::vector<double>& shares) {
  const auto [min, max] = std::ranges::minmax(shares);
  return range_text(format_percent(min, 0), format_percent(max, 0));
}

std::string limits_text(const PlanLimits& shares) {
  if (shares.bound.empty()) return {};
  const std::size_t known = shares.bound.size();
  const std::string where = shares.without == 0
                                ? " The"
                                : fmt::format(" At {} of {}, the", known,
                                              format_count(known + shares.without, "setting"));
  return fmt::format(
      "{} longest dependency chain takes {} of the sequential time; no order on {} "
      "less than {}.",
      where, shares_text(shares.critical_path), format_count(shares.devices, "device"),
      shares_text(shares.bound));
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
