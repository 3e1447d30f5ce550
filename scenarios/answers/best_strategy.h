// The default answer, for scenarios whose strategies do the same work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/answers/recommend.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// What an answer by strategies has of its own; everything else follows from the scenario.
struct StrategyWords {
  /// Parameter whose value names a case instead of its strategy, and the words before the value:
  /// "split" and "split " for "split 5", "layout" and nothing for "dp2".
  std::string_view named_by = {};
  std::string_view name_words = {};
  /// Orders the cases of one strategy from simple to complex; null: by their order.
  std::function<std::vector<std::int64_t>(const CaseSpec&)> complexity = {};
  /// Returns what follows the gain of a recommendation for cases of the same work: ", 90% of what
  /// its tasks allow". May be null.
  std::function<std::string(const Recommendation&, const Outcomes&)> details = {};
  /// Returns whether the devices of a case work in turn; null: none do.
  std::function<bool(const CaseSpec&)> works_in_turn = {};
  /// Returns a sentence about all cases. May be null.
  std::function<std::string(const Outcomes&)> remark = {};
};

/// Returns the names of the axes that all strategies share.
[[nodiscard]] std::vector<std::string_view> common_axes(const Scenario& scenario);

/// Returns "sharded with zero 3, bucket 5", or "split 5 with schedule 1f1b": the strategy and those
/// parameters of its own that the case's name shows, or in which otherwise equal cases differ. "one
/// device" for the baseline "single", "the whole GPU" for strategy all-cores.
[[nodiscard]] std::string strategy_label(const Scenario& scenario, const Outcomes& outcomes,
                                         const CaseSpec& spec, const StrategyWords& words = {});

/// Recommends a strategy for each combination of the parameters that all strategies have.
/// Strategies are listed in `Scenario::strategies` from simple to complex; cases of one strategy
/// are ordered likewise.
[[nodiscard]] Conclusion best_strategy(const Scenario& scenario, const Outcomes& outcomes,
                                       const PossiblyFastest& possibly_fastest,
                                       const StrategyWords& words = {});
[[nodiscard]] inline Conclusion best_strategy(const Scenario& scenario,
                                              const std::vector<CaseOutcome>& outcomes,
                                              const PossiblyFastest& possibly_fastest) {
  return best_strategy(scenario, all_outcomes(outcomes), possibly_fastest);
}

}  // namespace parbench
