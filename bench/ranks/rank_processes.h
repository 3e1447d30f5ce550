// The processes of the ranks of a run.
#pragma once

#include <vector>

#include "bench/ranks/rank_team.h"
#include "bench/sampling/conditions/own_processes.h"

namespace parbench {

/// Returns the other ranks on this host and the parent processes of all ranks on it, without those
/// in other PID namespaces (containers). All ranks call it at once.
[[nodiscard]] std::vector<OwnProcess> rank_processes(RankTeam& team);

}  // namespace parbench
