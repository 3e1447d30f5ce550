// One timeline from the parts that the ranks have recorded.
#pragma once

#include "bench/execution/plan_runner.h"
#include "bench/ranks/rank_team.h"
#include "scenarios/plan/timeline.h"

namespace parbench {

/// Joins the timelines of one execution, which have the same graph, on the clock of rank 0. It
/// begins when the first rank begins. `clock_error` includes that of comparing the ranks' clocks.
[[nodiscard]] Timeline joined(RankTeam& team, const Recording& own);

}  // namespace parbench
