// Costs of a plan's tasks in seconds: given, measured alone (bench/execution/task_costs.h), or
// estimated here by a roofline. They are the input of bounds, simulations, dry runs and balanced
// partitions.
#pragma once

#include <vector>

#include "scenarios/plan/graph.h"

namespace parbench {

/// Peak rates of a lane (Williams et al. 2009): the time of work is that of computing or of moving
/// its bytes, whichever is longer.
struct Roofline {
  double flops_per_second = 0;
  double bytes_per_second = 0;

  /// `sharers`: number of lanes that divide the work.
  [[nodiscard]] double seconds(const Work& work, int sharers = 1) const;
};

/// `lanes`: one roofline per lane; for a collective, that of its first lane is used. Throws
/// std::invalid_argument for another number of rooflines.
[[nodiscard]] std::vector<double> estimated_costs(const PlanGraph& graph,
                                                  const std::vector<Roofline>& lanes);

}  // namespace parbench
