// CPU time that Linux control groups grant to this process, and the share that they withhold.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "kernels/base/control_group.h"

namespace parbench {

/// CPU time of a control group since it was created, in core-seconds.
struct CoreTime {
  double used = 0;
  /// Time for which threads of the group were ready to run while its quota was used up, summed over
  /// cores.
  double withheld = 0;
};

/// CPU quotas of the control groups of this process. The constructor finds the groups with a quota.
class CpuQuota {
 public:
  /// `root`: the folder that holds proc and sys.
  explicit CpuQuota(const std::filesystem::path& root = "/");

  /// Returns the tightest quota in cores (0.5 is half of a core) if it is below `cores`, the number
  /// of cores that the process may use. Nothing if no quota limits the process.
  [[nodiscard]] std::optional<double> limit(std::size_t cores) const;

  /// Returns the CPU time of each group that has a quota, in the order of `control_groups`. In
  /// version 1 without the controller cpuacct in the same hierarchy, `used` is the CPU time of this
  /// process and of the child processes that it has waited for.
  [[nodiscard]] std::vector<CoreTime> read() const;

 private:
  std::vector<ControlGroup> groups_;  // groups with a quota
  std::optional<double> cores_;       // the tightest quota
};

/// Returns the share of the requested CPU time (used + withheld) that a quota withheld between two
/// readings of the same CpuQuota, from 0 to 1: the largest share of any group. Work that needs its
/// cores all the time takes 1/(1 − share) times as long. Returns nothing without a quota.
[[nodiscard]] std::optional<double> withheld_share(const std::vector<CoreTime>& before,
                                                   const std::vector<CoreTime>& after);

}  // namespace parbench
