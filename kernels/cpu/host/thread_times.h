// What Linux has done with some threads of this process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "kernels/core/condition.h"

namespace parbench::cpu {

/// Sums over the threads with these ids. Nothing where /proc does not show one of them. `root` is
/// the folder that holds proc.
[[nodiscard]] std::optional<ThreadTimes> thread_times(const std::vector<pid_t>& threads,
                                                      const std::filesystem::path& root = "/");

/// Returns the ids of the calling thread's OpenMP team of `threads`, its own among them.
[[nodiscard]] std::vector<pid_t> team_ids(int threads);

}  // namespace parbench::cpu
