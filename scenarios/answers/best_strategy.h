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

/// Wording and order of the cases in one scenario's answer, where the defaults do not suit it.
struct StrategyWords {
  /// Parameter by whose value labels name a case instead of its strategy, and the words before the
  /// value: "split" and "split " for "split 5", "layout" and nothing for "dp2".
  std::string_view named_by = {};
  std::string_view name_words = {};
  /// Orders the cases of one strategy from simple to complex; null: in the order of the outcomes.
  std::function<std::vector<std::int64_t>(const CaseSpec&)> complexity = {};
  /// Returns a clause to follow the gain of a recommendation: ", 90% of what its tasks allow". May
  /// be null.
  std::function<std::string(const Recommendation&, const Outcomes&)> details = {};
  /// Returns whether the devices of a case work one after the other; null: they work at the same
  /// time.
  std::function<bool(const CaseSpec&)> works_in_turn = {};
  /// Returns a sentence about all cases. May be null.
  std::function<std::string(const Outcomes&)> remark = {};
};

/// Returns the names of the axes that apply to all strategies and are part of a case's identity.
[[nodiscard]] std::vector<std::string_view> common_axes(const Scenario& scenario);

/// Returns the label of a case: "sharded with zero 3, bucket 5" or "split 5 with schedule 1f1b".
/// The strategy is followed by the values of axes that only some strategies have, if the case's
/// name shows them or otherwise equal cases differ in them. The label of the baseline is its name
/// alone, or "one device" or "one core" for baseline "single". The label of strategy all-cores is
/// "the whole GPU", or one device with the number of its cores.
[[nodiscard]] std::string strategy_label(const Scenario& scenario, const Outcomes& outcomes,
                                         const CaseSpec& spec, const StrategyWords& words = {});

/// Recommends a strategy for each combination of the values of `common_axes`.
/// `Scenario::strategies` must list strategies from simple to complex; `StrategyWords::complexity`
/// orders the cases of one strategy.
[[nodiscard]] Conclusion best_strategy(const Scenario& scenario, const Outcomes& outcomes,
                                       const PossiblyFastest& possibly_fastest,
                                       const StrategyWords& words = {});
[[nodiscard]] inline Conclusion best_strategy(const Scenario& scenario,
                                              const std::vector<CaseOutcome>& outcomes,
                                              const PossiblyFastest& possibly_fastest) {
  return best_strategy(scenario, all_outcomes(outcomes), possibly_fastest);
}

}  // namespace parbench
