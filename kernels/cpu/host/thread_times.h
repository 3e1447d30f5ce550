// Scheduling times of threads of this process, as Linux reports them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "kernels/core/condition.h"

namespace parbench::cpu {

/// Returns sums over the threads with these ids; nothing if files of one of them are missing.
/// `root`: the folder that holds proc.
[[nodiscard]] std::optional<ThreadTimes> thread_times(const std::vector<pid_t>& threads,
                                                      const std::filesystem::path& root = "/");

/// Returns the ids of all threads in the calling thread's OpenMP team of `threads`, including the
/// calling thread.
[[nodiscard]] std::vector<pid_t> team_ids(int threads);

}  // namespace parbench::cpu
