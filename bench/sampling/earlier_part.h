// What a session takes over from an earlier part of its run (--resume).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/sampling/results.h"
#include "reports/model/report.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns the case of that name if it has samples, or none because another case does the same;
/// nullptr if there is none, or no cases.
[[nodiscard]] const report::CaseResult* find_measured(const std::vector<report::CaseResult>* cases,
                                                      const std::string& name);

/// The results of the earlier part of a run, by the indices of the specs of a session.
class EarlierPart {
 public:
  /// `cases`: those of its report, which outlive this object; nullptr: there was no earlier part.
  /// `profiles`: whether the session has a profiling pass.
  EarlierPart(const std::vector<report::CaseResult>* cases, const std::vector<CaseSpec>& specs,
              const std::vector<Comparisons>& comparisons, bool profiles);

  /// Returns the earlier result of a case; nullptr if there is nothing to keep.
  [[nodiscard]] const report::CaseResult* find(std::size_t index) const { return known_[index]; }

  /// Returns whether the sampling of a case has come to its end.
  [[nodiscard]] bool is_finished(std::size_t index) const {
    return known_[index] != nullptr && !report::is_unfinished(*known_[index]);
  }

  /// Returns the place of a case in the order of preparation: those without samples come first, the
  /// finished ones last.
  [[nodiscard]] int rank(std::size_t index) const {
    if (known_[index] == nullptr) return 0;
    return is_finished(index) ? 2 : 1;
  }

  /// Returns whether the session leaves a case as it is: it is finished, lacks no profile, and no
  /// unfinished case is compared with it.
  [[nodiscard]] bool is_final(std::size_t index) const { return final_[index]; }

  /// Forgets the earlier result of a case that is planned with other stages now, as measured costs
  /// of layers may choose: its samples are those of another plan. Returns what differs; empty:
  /// nothing.
  [[nodiscard]] std::string forget_if_cut_elsewhere(std::size_t index,
                                                    const report::CaseResult& now);

  /// Returns the result of a case that the session has not sampled: the earlier one, with the
  /// reason of the session, unless the case has failed now.
  [[nodiscard]] report::CaseResult kept(std::size_t index, report::CaseResult now) const;

  /// Completes a case that the session has sampled: adds the earlier profile if there is no new
  /// one, and the earlier bound, for the median of all samples, unless the session `has_bound` from
  /// costs that were measured beside samples.
  void complete(std::size_t index, bool has_bound, report::CaseResult& sampled) const;

 private:
  std::vector<const report::CaseResult*> known_;
  std::vector<bool> final_;
};

}  // namespace parbench
