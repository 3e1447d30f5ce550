// Recommendations from measured cases. Cases that do the same work form a group; each group's
// recommendation is the case that is expected to be fastest, or a simpler one that is tied with it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

using Outcomes = std::vector<const CaseOutcome*>;

using SpecPredicate = std::function<bool(const CaseSpec&)>;

[[nodiscard]] Outcomes all_outcomes(const std::vector<CaseOutcome>& outcomes);

[[nodiscard]] Outcomes outcomes_where(const Outcomes& outcomes, const SpecPredicate& predicate);

[[nodiscard]] bool has_case(const Outcomes& outcomes, const SpecPredicate& predicate);

/// Returns the case with the largest speedup of those that satisfy the predicate; null if none of
/// them has a speedup.
[[nodiscard]] const CaseOutcome* fastest_where(const Outcomes& outcomes,
                                               const SpecPredicate& predicate);

/// Returns the outcome of the case with this name; null if there is none.
[[nodiscard]] const CaseOutcome* find_outcome(const Outcomes& cases, std::string_view name);

struct SameWork {
  /// Parameters that distinguish the group from others: "n 1024, bf16"; empty for a single group.
  /// Parameters that follow from earlier ones, such as the sizes of a model, are omitted.
  std::string setting;
  Outcomes cases;  // in the order of the outcomes
};

/// Groups cases that have equal values of these parameters, the same number format, and are both
/// captured as graphs or both not. The groups are in the order of these values.
[[nodiscard]] std::vector<SameWork> same_work(const Outcomes& outcomes,
                                              const std::vector<std::string_view>& parameters);

/// How a scenario names and orders the cases of a group.
struct Wording {
  std::function<std::string(const CaseSpec&)> label;  // "split 5"
  /// Returns numbers by which cases are ordered from simple to complex.
  std::function<std::vector<std::int64_t>(const CaseSpec&)> complexity;
  std::string_view baseline;  // strategy of the baseline
};

/// Returns the position of a strategy in a list from simple to complex; the length of the list if
/// the strategy is not in it.
[[nodiscard]] std::int64_t rank_in(std::initializer_list<std::string_view> simplest_first,
                                   std::string_view strategy);

/// Recommends the simplest case that is tied with the fastest one, whose expected speed is at most
/// 3% higher. The expected speed of a case is the median of its paired ratios to the baseline. The
/// baseline has speed 1 and is the simplest case. If the gain of the fastest case is shown, a
/// simpler case other than the baseline is only preferred if its gain is shown, too; otherwise the
/// choice does not depend on whether gains are shown. Cases without a ratio are ignored if others
/// have one. `possibly_fastest` decides which other cases are listed as not ruled out. The group
/// must have at least one case.
[[nodiscard]] Recommendation recommend(const SameWork& group, const Wording& wording,
                                       const PossiblyFastest& possibly_fastest);

/// Recommendations for several groups. Groups without a gain have no recommendation here.
struct Recommended {
  std::vector<Recommendation> recommendations;
  /// Settings of the groups without a gain: the baseline or all other cases are missing.
  std::vector<std::string> not_compared;

  /// Adds a recommendation, or only its setting to `not_compared` if it has no gain.
  void add(Recommendation one);
};

/// Recommends a case for each group of `same_work`.
[[nodiscard]] Recommended recommend_each(const Outcomes& outcomes,
                                         const std::vector<std::string_view>& parameters,
                                         const Wording& wording,
                                         const PossiblyFastest& possibly_fastest);

}  // namespace parbench
