// Clocks and throttling of cores, as Linux reports them.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "kernels/core/condition.h"

namespace parbench::cpu {

/// Sensors of a set of cores. The constructor finds the files that exist; virtual machines often
/// have none, so their cores have no readings.
class CoreSensors {
 public:
  /// `cores`: operating-system indices. `root`: the folder that holds sys.
  explicit CoreSensors(const std::vector<int>& cores, const std::filesystem::path& root = "/");

  /// Reads clocks and throttle counters. `clock_mhz` is the highest scaling_cur_freq of cpufreq,
  /// since other cores may be idle. `full_clock_mhz` is the base frequency if the kernel reports it
  /// (intel_pstate), otherwise CPPC's nominal frequency (acpi_cppc/nominal_freq). Without these or
  /// without `clock_mhz` it is absent: cpuinfo_max_freq may be the boost of a single core, which
  /// all cores together may not reach. The counters are from the x86 thermal monitor
  /// (thermal_throttle/*_throttle_count), summed over the cores.
  /// https://docs.kernel.org/admin-guide/pm/cpufreq.html
  /// https://docs.kernel.org/admin-guide/acpi/cppc_sysfs.html
  /// https://docs.kernel.org/admin-guide/thermal/intel_thermal_throttle.html
  [[nodiscard]] Condition read() const;

 private:
  using Files = std::vector<std::filesystem::path>;

  Files current_clocks_;  // at most one file per core
  std::optional<double> full_clock_mhz_;
  Files core_throttles_;
  Files package_throttles_;
};

}  // namespace parbench::cpu
