// Ranks in threads of one process, with a link through memory.
#pragma once

#include <functional>

#include "bench/ranks/rank_team.h"

namespace parbench::test {

/// What a rank waits for in its link.
enum class Awaited { message, barrier };

/// Runs `body` as each of so many ranks at once and waits for all. An exception of one of them is
/// thrown once all have ended. `on_wait` is called by the thread of a rank that begins to wait.
void run_ranks(
    int size, const std::function<void(RankTeam& team)>& body,
    const std::function<void(int rank, Awaited what)>& on_wait = [](int, Awaited) {});

}  // namespace parbench::test
