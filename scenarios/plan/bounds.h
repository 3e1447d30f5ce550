// Lower bounds on the time of a plan, whatever the schedule, from what each task costs alone.
#pragma once

#include <string>
#include <vector>

#include "scenarios/plan/graph.h"

namespace parbench {

/// Seconds.
struct Bound {
  double seconds = 0;        // the largest of the others
  double critical_path = 0;  // longest chain of dependencies
  double busiest_lane = 0;   // the most work on one lane
  std::string busiest_lane_name;
  /// The device with the most work for its cores: the seconds of all lanes that run on them times
  /// their threads, over the number of cores. With more lanes than cores it exceeds the busiest
  /// lane.
  double busiest_device = 0;
  /// The largest over all lanes of: the earliest start of any of its tasks, its work, and the
  /// minimum that must follow the last of them (the one-machine bound with heads and tails). At
  /// least the busiest lane; for a pipeline it includes ramp-up and drain.
  double one_machine = 0;
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// `costs`: seconds that each task takes alone. Throws std::invalid_argument unless there is one
/// per task.
[[nodiscard]] Bound bound_of(const PlanGraph& graph, const std::vector<double>& costs);

/// The bound of a plan whose tasks all cost so many times as much.
[[nodiscard]] Bound scaled(Bound bound, double factor);

}  // namespace parbench
