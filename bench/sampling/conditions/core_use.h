// Measures how much the run, with all its processes, and other programs use the cores of this
// process.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "bench/sampling/conditions/own_processes.h"

namespace parbench {

/// CPU times of some cores since the system was started, and of the run's processes.
struct CoreUse {
  double busy_seconds = 0;  // busy time of the cores, for any program; a multiple of the clock tick
  double own_seconds = 0;   // core time of the run's processes, on cores that this process may use
};

/// Reads /proc/stat (fields: proc(5)). Nothing if it lacks some of the cores, or if one of the
/// run's other processes, `own`, has ended. `root`: folder with proc.
[[nodiscard]] std::optional<CoreUse> core_use(const std::vector<int>& cores,
                                              const std::filesystem::path& root = "/",
                                              const std::vector<OwnProcess>& own = {});

/// Returns the average number of cores that other programs used between two readings. It may be
/// negative, because of the clock tick's resolution; nothing if a reading is missing.
[[nodiscard]] std::optional<double> used_by_others(const std::optional<CoreUse>& before,
                                                   const std::optional<CoreUse>& after,
                                                   double seconds);

}  // namespace parbench
