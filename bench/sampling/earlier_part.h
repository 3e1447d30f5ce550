// Results that a session continues from an earlier part of its run (--resume).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/sampling/results.h"
#include "reports/model/report.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns the case of that name if it has samples, or lacks them because another case has the same
/// plan; null otherwise.
[[nodiscard]] const report::CaseResult* find_measured(const std::vector<report::CaseResult>* cases,
                                                      const std::string& name);

/// Results of the earlier part of a run, by the indices of a session's specs.
class EarlierPart {
 public:
  /// `cases`: the cases of the earlier report, which must outlive this object; null for a new run.
  /// `profiles`: the session has a profiling pass.
  EarlierPart(const std::vector<report::CaseResult>* cases, const std::vector<CaseSpec>& specs,
              const std::vector<Comparisons>& comparisons, bool profiles);

  /// Returns the earlier result of a case; null if there is none to keep.
  [[nodiscard]] const report::CaseResult* find(std::size_t index) const { return known_[index]; }

  /// Returns whether the earlier part sampled a case to the end.
  [[nodiscard]] bool is_finished(std::size_t index) const {
    return known_[index] != nullptr && !report::is_unfinished(*known_[index]);
  }

  /// Returns the key of a case in the order of preparation: cases without samples first, finished
  /// ones last.
  [[nodiscard]] int order_key(std::size_t index) const {
    if (known_[index] == nullptr) return 0;
    return is_finished(index) ? 2 : 1;
  }

  /// Returns whether the session leaves a case unchanged: it is finished, has a profile if the
  /// session makes profiles, and no unfinished case is compared with it.
  [[nodiscard]] bool is_final(std::size_t index) const { return final_[index]; }

  /// Forgets the earlier result of a case whose stages are different now, for example by measured
  /// costs of layers, because its samples belong to another plan. Returns the difference; empty if
  /// none.
  [[nodiscard]] std::string forget_if_cut_elsewhere(std::size_t index,
                                                    const report::CaseResult& now);

  /// Returns the result of a case that the session has not sampled: `now` if the case failed or has
  /// no earlier result, otherwise the earlier result. That states if the session skipped the case,
  /// or had no time to finish it.
  [[nodiscard]] report::CaseResult kept(std::size_t index, report::CaseResult now) const;

  /// Completes a case that the session has sampled: adds the earlier profile if there is no new
  /// one, and without `has_bound` the earlier bound, scaled to the median of all samples.
  /// `has_bound`: the session has computed a bound from costs measured beside samples.
  void complete(std::size_t index, bool has_bound, report::CaseResult& sampled) const;

 private:
  std::vector<const report::CaseResult*> known_;
  std::vector<bool> final_;
};

}  // namespace parbench
