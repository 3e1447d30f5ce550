// Costs of a plan's tasks in seconds: given, measured alone (bench/execution/task_costs.h), or
// estimated here by a roofline. They are the input of bounds, simulations, dry runs and balanced
// partitions.
#pragma once

#include <vector>

#include "scenarios/plan/graph.h"

namespace parbench {

/// Peak rates of a lane (Williams et al. 2009), for estimating the time of work.
struct Roofline {
  double flops_per_second = 0;
  double bytes_per_second = 0;

  /// Returns the longer of the times for computing and for moving bytes, divided by `sharers`, the
  /// number of lanes that divide the work; plus `work.seconds`.
  [[nodiscard]] double seconds(const Work& work, int sharers = 1) const;
};

/// Returns the seconds of each task by the roofline of its first lane. `lanes`: one roofline per
/// lane. Throws std::invalid_argument for another number of rooflines.
[[nodiscard]] std::vector<double> estimated_costs(const PlanGraph& graph,
                                                  const std::vector<Roofline>& lanes);

}  // namespace parbench
