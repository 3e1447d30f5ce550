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
  /// Maximum over all devices of the core time of the lanes that share the device's cores (seconds
  /// times threads) divided by the number of cores. Can exceed `busiest_lane` if these lanes have
  /// more threads than the device has cores.
  double busiest_device = 0;
  /// One-machine bound with heads and tails: the maximum, over all lanes and all subsets of a
  /// lane's tasks, of the earliest start of any task of the subset, plus the subset's work, plus
  /// the minimum time after any task of the subset. At least `busiest_lane`; for a pipeline it
  /// includes ramp-up and drain.
  double one_machine = 0;
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// Returns the bounds of a plan. `costs`: seconds of each task alone. Throws std::invalid_argument
/// unless there is one cost per task.
[[nodiscard]] Bound bound_of(const PlanGraph& graph, const std::vector<double>& costs);

/// Returns the bound of the plan if the costs of all tasks are multiplied by `factor`.
[[nodiscard]] Bound scaled(Bound bound, double factor);

}  // namespace parbench
