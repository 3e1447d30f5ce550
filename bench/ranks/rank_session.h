// The session of a run with several ranks, on rank 0 and on the others.
#pragma once

#include <memory>

#include "bench/ranks/rank_team.h"
#include "bench/sampling/session/session.h"

namespace parbench {

/// Thrown if MPI cannot be used on this rank.
class RankSetupError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Joins the ranks of this run if a launcher has started several; null for a single process. Errors
/// of a rank other than 0 then begin with its host and rank. Throws RankSetupError.
[[nodiscard]] std::unique_ptr<RankTeam> join_ranks();

/// Makes a session share clock, interrupts, executions and failures with all ranks.
void spread_over(RankTeam& team, SessionEnvironment& environment);

/// Returns the environment of a session on a rank other than 0, which reports nothing. `profiles`:
/// whether rank 0 has a profiling pass.
[[nodiscard]] SessionEnvironment following_environment(RankTeam& team, Progress& progress,
                                                       LostBackends& lost, bool profiles);

}  // namespace parbench
