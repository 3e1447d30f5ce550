// Predicts the timeline of a plan from what its tasks cost.
#pragma once

#include <vector>

#include "scenarios/plan/timeline.h"

namespace parbench {

/// Returns the timeline in which each task begins as soon as it can: when the tasks before it on
/// each of its lanes and all tasks in its `after` have ended, and not before. That is list
/// scheduling with the order of the graph on every lane. A collective begins on all lanes together.
/// The host takes no time, and lanes do not slow each other down. Each task is one call on
/// each of its lanes, without a name. `costs`: seconds, one per task; throws std::invalid_argument
/// for another number of them, and for a cost that is negative or not finite.
[[nodiscard]] Timeline simulate(const PlanGraph& graph, const std::vector<double>& costs);

}  // namespace parbench
