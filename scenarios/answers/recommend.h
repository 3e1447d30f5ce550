// From measured cases to what to use: which cases do the same work, and which of them is expected
// to be the fastest, or as fast and simpler.
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

/// Returns the outcome of a case; null where it is none of these.
[[nodiscard]] const CaseOutcome* find_outcome(const Outcomes& cases, std::string_view name);

/// Returns the number of devices that a case uses, as far as its parameters have it; else 1.
[[nodiscard]] double devices_of(const CaseSpec& spec);

/// Cases that do the same work.
struct SameWork {
  /// By what it differs from other groups: "n 1024, bf16"; empty of the only one. What follows from
  /// a parameter before it is left out, as the sizes of a model.
  std::string setting;
  Outcomes cases;  // in the order of the outcomes
};

/// Groups cases whose values of these parameters, number format and capture are equal; the groups
/// are in the order of the values.
[[nodiscard]] std::vector<SameWork> same_work(const Outcomes& outcomes,
                                              const std::vector<std::string_view>& parameters);

/// What a scenario knows of the cases of a group.
struct Wording {
  std::function<std::string(const CaseSpec&)> label;  // "split 5"
  /// Whether the first is the simpler of two cases.
  std::function<bool(const CaseSpec&, const CaseSpec&)> simpler;
  std::function<bool(const CaseSpec&)> is_baseline;
};

/// Recommends the case that is expected to be the fastest: the one with the largest median of
/// paired ratios. Cases within 3% of it are tied with it, and of these the simplest is recommended;
/// the baseline, whose ratio is 1, is the simplest of all. A case whose gain is not shown is not
/// preferred to the fastest where that one's is. What the samples show of the gain (`pays`) does
/// not change what is recommended. Cases without a ratio are not compared, where others have one.
/// `possibly_fastest` decides which other cases are named as not ruled out. The group has at least
/// one case.
[[nodiscard]] Recommendation recommend(const SameWork& group, const Wording& wording,
                                       const PossiblyFastest& possibly_fastest);

/// Recommendations of several groups, all of them with a gain.
struct Recommended {
  std::vector<Recommendation> recommendations;
  std::vector<std::string>
      not_compared;  // settings where no case beside the baseline has a speedup

  /// Adds a recommendation, or only its setting where it has no gain.
  void add(Recommendation one);
};

/// Recommends a case for each group of `same_work`.
[[nodiscard]] Recommended recommend_each(const Outcomes& outcomes,
                                         const std::vector<std::string_view>& parameters,
                                         const Wording& wording,
                                         const PossiblyFastest& possibly_fastest);

}  // namespace parbench
