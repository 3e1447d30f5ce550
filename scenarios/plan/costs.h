// What the tasks of a plan cost, in seconds by task: given, measured alone
// (bench/execution/task_costs.h), or estimated here by a roofline. Bounds, simulations, dry runs
// and balanced partitions all start from such costs.
#pragma once

#include <vector>

#include "scenarios/plan/graph.h"

namespace parbench {

/// The best rates of a lane (Williams et al. 2009): work takes as long as the slower of computing
/// and moving its bytes.
struct Roofline {
  double flops_per_second = 0;
  double bytes_per_second = 0;

  /// `sharers`: lanes that divide the work among them.
  [[nodiscard]] double seconds(const Work& work, int sharers = 1) const;
};

/// `lanes`: one roofline per lane; the first lane of a collective counts for it. Throws
/// std::invalid_argument for another number of them.
[[nodiscard]] std::vector<double> estimated_costs(const PlanGraph& graph,
                                                  const std::vector<Roofline>& lanes);

}  // namespace parbench
