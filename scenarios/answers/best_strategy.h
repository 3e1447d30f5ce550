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

/// Words and rules of one scenario's answer by strategies; the rest follows from the scenario.
struct StrategyWords {
  /// Parameter whose value names a case instead of its strategy, and the words before the value:
  /// "split" and "split " for "split 5", "layout" and nothing for "dp2".
  std::string_view named_by = {};
  std::string_view name_words = {};
  /// Orders the cases of one strategy from simple to complex; null: in the order of the outcomes.
  std::function<std::vector<std::int64_t>(const CaseSpec&)> complexity = {};
  /// Returns a clause to follow the gain of a recommendation: ", 90% of what its tasks allow". May
  /// be null.
  std::function<std::string(const Recommendation&, const Outcomes&)> details = {};
  /// Returns whether the devices of a case work in turn; null: they work at the same time.
  std::function<bool(const CaseSpec&)> works_in_turn = {};
  /// Returns a sentence about all cases. May be null.
  std::function<std::string(const Outcomes&)> remark = {};
};

/// Returns the names of the axes that apply to all strategies and are part of a case's identity.
[[nodiscard]] std::vector<std::string_view> common_axes(const Scenario& scenario);

/// Returns "sharded with zero 3, bucket 5", or "split 5 with schedule 1f1b": the strategy and those
/// parameters of its own that the case's name shows, or in which otherwise equal cases differ. The
/// baseline has its name alone, or "one device" if it is "single"; strategy all-cores is "the whole
/// GPU" or one device with its cores.
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
