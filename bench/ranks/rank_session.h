// A session that all ranks run together, and the part of those that only take part.
#pragma once

#include <memory>
#include <optional>

#include "bench/ranks/launcher.h"
#include "bench/ranks/rank_team.h"
#include "bench/sampling/session/session.h"

namespace parbench {

/// MPI cannot be used on this rank, whatever the others do.
class RankSetupError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Joins the ranks of this run, where a launcher has started several; null for a single process.
/// Messages of this process name its rank from then on. Throws RankSetupError.
[[nodiscard]] std::unique_ptr<RankTeam> join_ranks();

/// Lets a session take clock, interrupts, executions and failures from all ranks.
void spread_over(RankTeam& team, SessionEnvironment& environment);

/// A session of a rank that reports nothing. `profiles`: whether rank 0 has a profiling pass.
[[nodiscard]] SessionEnvironment following_environment(RankTeam& team, Progress& progress,
                                                       LostBackends& lost, bool profiles);

}  // namespace parbench
