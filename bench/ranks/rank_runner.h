// Executions of a plan by all ranks at once.
#pragma once

#include <memory>

#include "bench/execution/plan_runner.h"
#include "bench/ranks/rank_team.h"

namespace parbench {

/// Makes a runner that executes this rank's part of a plan while the others execute theirs. All
/// ranks get the time of the slowest rank from a common start, the largest cost of each task, and a
/// timeline of all ranks. Throws Error if the ranks have different plans, Unsupported for a graph
/// on devices other than CPUs. `team` and `plan` outlive the runner.
[[nodiscard]] std::unique_ptr<PlanRunner> make_rank_runner(RankTeam& team, const Plan& plan,
                                                           SubmitMode mode);

/// Returns the time limit in seconds after which an execution counts as hung. `longest`: the plan's
/// longest execution so far.
[[nodiscard]] double execution_limit(double longest);

/// Returns a hash of the lanes, and of the tasks with their order and work.
[[nodiscard]] std::uint64_t hash_of(const PlanGraph& graph);

}  // namespace parbench
