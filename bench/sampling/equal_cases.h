// Finds cases of a session that do the same, so that it measures one of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "bench/sampling/results.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// The cases of one session. What it is given outlives it.
class EqualCases {
 public:
  EqualCases(const Scenario& scenario, const std::vector<CaseSpec>& specs,
             const std::vector<Comparisons>& comparisons);

  /// Returns another case that does the same: the scenario's plans show all that a case does, those
  /// of the two are equal, and so are their parameters that all strategies have, number formats and
  /// capture. Nothing for a case that others are compared with. `plan_of` returns the plan of a
  /// case, or null where it is not prepared; that of the case itself is.
  [[nodiscard]] std::optional<std::size_t> equal_to(
      std::size_t index, const std::function<const Plan*(std::size_t)>& plan_of) const;

 private:
  [[nodiscard]] bool have_same_work(const CaseSpec& one, const CaseSpec& other) const;

  const Scenario& scenario_;
  const std::vector<CaseSpec>& specs_;
  std::vector<bool> needed_;  // of each spec: whether others are compared with it
};

}  // namespace parbench
