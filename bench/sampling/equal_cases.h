// Finds cases of a session with equal work, so that only one of them is measured.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "bench/sampling/results.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Finds equal cases among those of one session. `scenario` and `specs` must outlive the object.
class EqualCases {
 public:
  EqualCases(const Scenario& scenario, const std::vector<CaseSpec>& specs,
             const std::vector<Comparisons>& comparisons);

  /// Returns another prepared case with the same work as case `index`: equal plan, number format,
  /// use of a graph, and parameters that all strategies have. Returns nothing if there is none, if
  /// the scenario's plans do not show all work, or if other cases are compared with this one.
  /// `plan_of`: returns the plan of a case, null if it is not prepared; case `index` must be
  /// prepared.
  [[nodiscard]] std::optional<std::size_t> equal_to(
      std::size_t index, const std::function<const Plan*(std::size_t)>& plan_of) const;

 private:
  [[nodiscard]] bool have_same_work(const CaseSpec& one, const CaseSpec& other) const;

  const Scenario& scenario_;
  const std::vector<CaseSpec>& specs_;
  std::vector<bool> needed_;  // by spec: whether other cases are compared with it
};

}  // namespace parbench
