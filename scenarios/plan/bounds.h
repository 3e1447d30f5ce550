// Lower bounds on the time of a plan under any schedule, from the cost of each task alone.
#pragma once

#include <string>
#include <vector>

#include "scenarios/plan/graph.h"

namespace parbench {

/// Bounds in seconds.
struct Bound {
  double seconds = 0;        // maximum of the bounds below
  double critical_path = 0;  // longest chain of dependencies
  double busiest_lane = 0;   // maximum work on one lane
  std::string busiest_lane_name;
  /// The device with the most work relative to its cores: seconds of all lanes on these cores times
  /// their threads, divided by the number of cores. Exceeds the busiest lane if there are more
  /// lanes than cores.
  double busiest_device = 0;
  /// The maximum over all lanes of: earliest start of any of its tasks, plus its work, plus the
  /// minimum time after the last of them (the one-machine bound with heads and tails). At least the
  /// busiest lane; for a pipeline it includes ramp-up and drain.
  double one_machine = 0;
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// `costs`: seconds of each task alone. Throws std::invalid_argument unless there is one per task.
[[nodiscard]] Bound bound_of(const PlanGraph& graph, const std::vector<double>& costs);

/// Returns the bound of the plan if the costs of all tasks are multiplied by `factor`.
[[nodiscard]] Bound scaled(Bound bound, double factor);

}  // namespace parbench
