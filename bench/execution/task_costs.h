// Measures the cost of each task of a plan alone, with everything else idle, for the bound.
#pragma once

#include "bench/execution/plan_runner.h"

namespace parbench {

/// Tasks with the same cost key (on one lane) are measured once: the median of up to
/// `limits.repeats` measurements. A task of less than a millisecond is executed many times between
/// two records, with the host ahead of its lane, because a lane that wakes up for a task takes
/// longer than the task itself; in a plan the lane is awake already.
[[nodiscard]] TaskCosts measure_task_costs(const Plan& plan, const CostLimits& limits);

}  // namespace parbench
