// From measured cases to what to use: which cases do the same work, which of them may be the
// fastest, and whether the simplest of those gains over the baseline.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

using Outcomes = std::vector<const CaseOutcome*>;

/// Returns pointers to the outcomes that satisfy the predicate.
[[nodiscard]] Outcomes outcomes_where(const std::vector<CaseOutcome>& outcomes,
                                      const std::function<bool(const CaseOutcome&)>& predicate);

/// Cases that do the same work.
struct SameWork {
  std::string setting;  // what other groups have not: "n 1024, bf16"; empty of the only one
  Outcomes cases;       // in the order of the outcomes
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

/// Recommends the simplest case that cannot be distinguished from the fastest. Where the baseline
/// is one of them, or the interval of no gain is wholly above 1, that is the baseline, so that no
/// recommendation says more than its interval. The group has at least one case.
[[nodiscard]] report::Recommendation recommend(SameWork group, const Wording& wording,
                                               const PossiblyFastest& possibly_fastest);

}  // namespace parbench
