// Timelines of several ranks, joined to one.
#pragma once

#include "bench/execution/plan_runner.h"
#include "bench/ranks/rank_team.h"
#include "scenarios/plan/timeline.h"

namespace parbench {

/// Joins the ranks' timelines of one execution of the same graph on the clock of rank 0. The result
/// begins when the first rank begins. Its `clock_error` includes the error of the clock offsets.
[[nodiscard]] Timeline joined(RankTeam& team, const Recording& own);

}  // namespace parbench
