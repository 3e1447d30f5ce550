// Predicts the timeline of a plan from the costs of its tasks.
#pragma once

#include <vector>

#include "scenarios/plan/timeline.h"

namespace parbench {

/// Returns the timeline in which each task begins as soon as the previous tasks on each of its
/// lanes, and all tasks in its `after`, have ended: list scheduling in the order of the graph. A
/// collective begins on all lanes at the same time. The host takes no time, and lanes do not slow
/// each other down. Each task is one unnamed call on each of its lanes. `costs`: seconds, one per
/// task. Throws std::invalid_argument for another number of costs, and for a negative or non-finite
/// cost.
[[nodiscard]] Timeline simulate(const PlanGraph& graph, const std::vector<double>& costs);

}  // namespace parbench
