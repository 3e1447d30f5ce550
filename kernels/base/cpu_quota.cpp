// Reads the files of the control groups' controller "cpu":
// https://docs.kernel.org/scheduler/sched-bwc.html
// https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu
#include "kernels/base/cpu_quota.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

namespace parbench {
namespace {

/// Returns the quota of a group in cores; nothing for a group without a quota ("max", -1).
std::optional<double> quota_of(const ControlGroup& group) {
  double quota = 0;
  double period = 0;
  if (group.version == 2) {
    std::ifstream file(group.folder / "cpu.max");
    if (!(file >> quota >> period)) return std::nullopt;
  } else {
    quota = static_cast<double>(number_in(group.folder / "cpu.cfs_quota_us").value_or(-1));
    period = static_cast<double>(number_in(group.folder / "cpu.cfs_period_us").value_or(0));
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

double processor_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

CoreTime core_time(const ControlGroup& group) {
  const auto statistic = [file = group.folder / "cpu.stat"](std::string_view name) {
    return static_cast<double>(statistic_in(file, name));
  };
  if (group.version == 2) {
    return {.used = 1e-6 * statistic("usage_usec"), .withheld = 1e-6 * statistic("throttled_usec")};
  }
  const auto used = number_in(group.folder / "cpuacct.usage");
  return {.used = used ? 1e-9 * static_cast<double>(*used)
                       : processor_seconds(RUSAGE_SELF) + processor_seconds(RUSAGE_CHILDREN),
          .withheld = 1e-9 * statistic("throttled_time")};
}

}  // namespace

CpuQuota::CpuQuota(const std::filesystem::path& root) {
  for (const ControlGroup& group : control_groups("cpu", root)) {
    const auto quota = quota_of(group);
    if (!quota) continue;
    groups_.push_back(group);
    cores_ = std::min(cores_.value_or(*quota), *quota);
  }
}

std::optional<double> CpuQuota::limit(std::size_t cores) const {
  return cores_ && *cores_ < static_cast<double>(cores) ? cores_ : std::nullopt;
}

std::vector<CoreTime> CpuQuota::read() const {
  std::vector<CoreTime> times;
  for (const ControlGroup& group : groups_) times.push_back(core_time(group));
  return times;
}

std::optional<double> withheld_share(const std::vector<CoreTime>& before,
                                     const std::vector<CoreTime>& after) {
  std::optional<double> share;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const double used = std::max(0.0, after[i].used - before[i].used);
    const double withheld = std::max(0.0, after[i].withheld - before[i].withheld);
    share = std::max(share.value_or(0), withheld > 0 ? withheld / (used + withheld) : 0);
  }
  return share;
}

}  // namespace parbench
