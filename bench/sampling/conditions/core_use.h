// Who uses the cores that this process may use: it, or other programs.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace parbench {

/// Sums over some cores since the system was started, and of this process.
struct CoreUse {
  double busy_seconds = 0;  // of the cores, with any program; in steps of the clock tick
  double own_seconds = 0;   // of this process, on any core
};

/// Reads /proc/stat (proc(5) has its fields). Nothing where it has not all of these cores. `root`
/// is the folder that holds proc.
[[nodiscard]] std::optional<CoreUse> core_use(const std::vector<int>& cores,
                                              const std::filesystem::path& root = "/");

/// How many cores other programs used on average between two readings. Below 0 where the clock tick
/// hides it; nothing where one of them is missing.
[[nodiscard]] std::optional<double> used_by_others(const std::optional<CoreUse>& before,
                                                   const std::optional<CoreUse>& after,
                                                   double seconds);

}  // namespace parbench
