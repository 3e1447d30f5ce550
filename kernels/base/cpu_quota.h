// The processor time that Linux's control groups grant this process, and how much of it they
// withhold.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "kernels/base/control_group.h"

namespace parbench {

/// Time of cores, in seconds, since a control group was made.
struct CoreTime {
  double used = 0;
  /// Sum over the cores of the time for which threads of the group were ready to run there while
  /// its quota was spent.
  double withheld = 0;
};

/// The CPU quotas of the groups of this process. Which groups have one is read once.
class CpuQuota {
 public:
  /// `root`: the folder that holds proc and sys.
  explicit CpuQuota(const std::filesystem::path& root = "/");

  /// Returns the tightest quota in cores, if it is below `cores`, the number that the process may
  /// use: half of a processor is 0.5. Nothing where no quota limits the process.
  [[nodiscard]] std::optional<double> limit(std::size_t cores) const;

  /// Returns the CPU time of each group that has a quota, the process's own first. Of version 1
  /// without the controller cpuacct in the same hierarchy, `used` is the time of this process and
  /// of the children that it has waited for.
  [[nodiscard]] std::vector<CoreTime> read() const;

 private:
  std::vector<ControlGroup> groups_;  // those with a quota
  std::optional<double> cores_;       // of the tightest
};

/// Returns the share of the CPU time wanted (used or withheld) that a quota withheld between two
/// readings of the same CpuQuota: the largest share of any group, 0 to 1. Work that needs its cores
/// all the time takes 1/(1 − share) times as long. Nothing without a quota.
[[nodiscard]] std::optional<double> withheld_share(const std::vector<CoreTime>& before,
                                                   const std::vector<CoreTime>& after);

}  // namespace parbench
