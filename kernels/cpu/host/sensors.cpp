// Reads cpufreq, acpi_cppc and thermal_throttle below /sys/devices/system/cpu.
#include "kernels/cpu/host/sensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <system_error>

#include "kernels/base/control_group.h"

namespace parbench::cpu {
namespace {

namespace fs = std::filesystem;

std::optional<double> megahertz_in(const fs::path& path) {
  const auto kilohertz = number_in(path);
  if (!kilohertz || *kilohertz <= 0) return std::nullopt;
  return static_cast<double>(*kilohertz) / 1e3;
}

void add_if_there(std::vector<fs::path>& files, fs::path file) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) files.push_back(std::move(file));
}

std::optional<double> full_clock(const fs::path& core) {
  if (const auto base = megahertz_in(core / "cpufreq/base_frequency")) return base;
  const auto nominal = number_in(core / "acpi_cppc/nominal_freq");  // in MHz; cpufreq uses kHz
  if (!nominal || *nominal <= 0) return std::nullopt;               // 0: unknown to the firmware
  return static_cast<double>(*nominal);
}

void add_sum(std::vector<ThrottleCounter>& counters, const char* reason,
             const std::vector<fs::path>& files) {
  if (files.empty()) return;
  std::int64_t sum = 0;
  for (const fs::path& file : files) sum += number_in(file).value_or(0);
  counters.push_back({reason, sum});
}

}  // namespace

CoreSensors::CoreSensors(const std::vector<int>& cores, const fs::path& root) {
  for (const int core : cores) {
    const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}", core);
    add_if_there(current_clocks_, folder / "cpufreq/scaling_cur_freq");
    add_if_there(core_throttles_, folder / "thermal_throttle/core_throttle_count");
    add_if_there(package_throttles_, folder / "thermal_throttle/package_throttle_count");
    // With cores of different kinds, the fastest kind determines the clock.
    full_clock_mhz_ = std::max(full_clock_mhz_, full_clock(folder));
  }
}

Condition CoreSensors::read() const {
  Condition condition;
  for (const fs::path& file : current_clocks_) {
    condition.clock_mhz = std::max(condition.clock_mhz, megahertz_in(file));
  }
  if (condition.clock_mhz) condition.full_clock_mhz = full_clock_mhz_;
  add_sum(condition.throttle_counters, "core temperature", core_throttles_);
  add_sum(condition.throttle_counters, "package temperature", package_throttles_);
  return condition;
}

}  // namespace parbench::cpu
