// Clocks and throttling of cores, as Linux reports them.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "kernels/core/condition.h"

namespace parbench::cpu {

/// Which files there are is looked up once; virtual machines have none of them, and their cores no
/// condition.
class CoreSensors {
 public:
  /// `cores`: operating-system indices. `root` is the folder that holds sys.
  explicit CoreSensors(const std::vector<int>& cores, const std::filesystem::path& root = "/");

  /// The clock is that of the fastest core, since some may rest: cpufreq's scaling_cur_freq. The
  /// full clock is the base frequency where the kernel reports it (intel_pstate), else CPPC's
  /// nominal frequency (acpi_cppc/nominal_freq), else not known: cpuinfo_max_freq may be the boost
  /// of a single core, which need not hold on all of them at once. The counters are those of the
  /// x86 thermal monitor (thermal_throttle/*_throttle_count), summed over the cores.
  /// https://docs.kernel.org/admin-guide/pm/cpufreq.html
  /// https://docs.kernel.org/admin-guide/acpi/cppc_sysfs.html
  /// https://docs.kernel.org/admin-guide/thermal/intel_thermal_throttle.html
  [[nodiscard]] Condition read() const;

 private:
  using Files = std::vector<std::filesystem::path>;

  Files current_clocks_;  // of each core
  std::optional<double> full_clock_mhz_;
  Files core_throttles_;
  Files package_throttles_;
};

}  // namespace parbench::cpu
