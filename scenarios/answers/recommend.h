// Recommendations from measured cases. Cases that do the same work form a group; each group's
// recommendation is the case that is expected to be fastest, or a simpler one that is tied with it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

using Outcomes = std::vector<const CaseOutcome*>;

/// Returns pointers to the outcomes that satisfy the predicate.
[[nodiscard]] Outcomes outcomes_where(const std::vector<CaseOutcome>& outcomes,
                                      const std::function<bool(const CaseOutcome&)>& predicate);

/// Returns the outcome of a case; null if it is not among these.
[[nodiscard]] const CaseOutcome* find_outcome(const Outcomes& cases, std::string_view name);

/// Returns the number of devices that a case uses according to its parameters; otherwise 1.
[[nodiscard]] double devices_of(const CaseSpec& spec);

/// Cases that do the same work.
struct SameWork {
  /// Distinguishes the group from others: "n 1024, bf16"; empty for a single group. Parameters that
  /// follow from earlier ones, such as the sizes of a model, are omitted.
  std::string setting;
  Outcomes cases;  // in the order of the outcomes
};

/// Groups cases with equal values of these parameters, of number format and capture. The groups are
/// in the order of the values.
[[nodiscard]] std::vector<SameWork> same_work(const Outcomes& outcomes,
                                              const std::vector<std::string_view>& parameters);

/// How a scenario names and orders the cases of a group.
struct Wording {
  std::function<std::string(const CaseSpec&)> label;  // "split 5"
  /// Returns whether the first of two cases is simpler.
  std::function<bool(const CaseSpec&, const CaseSpec&)> simpler;
  std::function<bool(const CaseSpec&)> is_baseline;
};

/// Recommends the case with the highest expected speed, the largest median of paired ratios. If
/// simpler cases are within 3% of it (tied), the simplest of them is recommended; the baseline,
/// whose ratio is 1, is the simplest of all. A case whose gain is not shown is not preferred to a
/// fastest case whose gain is shown. Whether the samples show the gain (`pays`) does not affect the
/// choice otherwise. Cases without a ratio are ignored if others have one. `possibly_fastest`
/// decides which other cases are listed as not ruled out. The group must have at least one case.
[[nodiscard]] Recommendation recommend(const SameWork& group, const Wording& wording,
                                       const PossiblyFastest& possibly_fastest);

/// Recommendations for several groups, all of them with a gain.
struct Recommended {
  std::vector<Recommendation> recommendations;
  std::vector<std::string> not_compared;  // settings in which only the baseline has a result

  /// Adds a recommendation; only its setting if it has no gain.
  void add(Recommendation one);
};

/// Recommends a case for each group of `same_work`.
[[nodiscard]] Recommended recommend_each(const Outcomes& outcomes,
                                         const std::vector<std::string_view>& parameters,
                                         const Wording& wording,
                                         const PossiblyFastest& possibly_fastest);

}  // namespace parbench
