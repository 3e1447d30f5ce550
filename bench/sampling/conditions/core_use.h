// Who uses the cores that this process may use: the run with all of its processes, or other
// programs.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "bench/sampling/conditions/own_processes.h"

namespace parbench {

/// Sums over some cores since the system was started, and over the processes of the run.
struct CoreUse {
  double busy_seconds = 0;  // of the cores, with any program; in steps of the clock tick
  double own_seconds = 0;   // of the processes of the run, on any core that this one may use
};

/// Reads /proc/stat (proc(5) has its fields). Nothing where it has not all of these cores, or where
/// one of the run's other processes, `own`, has ended. `root` is the folder that holds proc.
[[nodiscard]] std::optional<CoreUse> core_use(const std::vector<int>& cores,
                                              const std::filesystem::path& root = "/",
                                              const std::vector<OwnProcess>& own = {});

/// How many cores other programs used on average between two readings. Below 0 where the clock tick
/// hides it; nothing where one of them is missing.
[[nodiscard]] std::optional<double> used_by_others(const std::optional<CoreUse>& before,
                                                   const std::optional<CoreUse>& after,
                                                   double seconds);

}  // namespace parbench
