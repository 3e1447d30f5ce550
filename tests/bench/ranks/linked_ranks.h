// Ranks in threads of one process, with a link through memory.
#pragma once

#include <functional>

#include "bench/ranks/rank_team.h"

namespace parbench::test {

/// Runs `body` as each of so many ranks at once and waits for all. An exception of one of them is
/// thrown once all have ended.
void run_ranks(int size, const std::function<void(RankTeam& team)>& body);

}  // namespace parbench::test
