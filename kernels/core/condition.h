// Sensor readings of a device: clock, temperature, and reasons for throttling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace parbench {

/// A counter that increases whenever the device is throttled for this reason. If two readings
/// differ, the device was throttled in between.
struct ThrottleCounter {
  std::string reason;  // "thermal"
  std::int64_t count = 0;
  friend bool operator==(const ThrottleCounter&, const ThrottleCounter&) = default;
};

/// Times of the host threads that execute one or more streams, as the operating system reports them
/// since the threads were started. Sums over the threads.
struct ThreadTimes {
  int threads = 0;
  double core_seconds = 0;       // time on a core
  double core_wait_seconds = 0;  // time ready to run while other threads had the core
  double kernel_seconds = 0;     // CPU time in the kernel, in whole clock ticks
  // minor page faults: first accesses to memory, without reading from a disk
  std::int64_t page_faults = 0;

  ThreadTimes& operator+=(const ThreadTimes& other) {
    threads += other.threads;
    core_seconds += other.core_seconds;
    core_wait_seconds += other.core_wait_seconds;
    kernel_seconds += other.kernel_seconds;
    page_faults += other.page_faults;
    return *this;
  }
  friend bool operator==(const ThreadTimes&, const ThreadTimes&) = default;
};

/// Readings of a device's sensors; values without a sensor are absent.
struct Condition {
  std::optional<double> clock_mhz = {};
  /// Clock under load without throttling.
  std::optional<double> full_clock_mhz = {};
  std::optional<double> temperature_celsius = {};
  std::optional<double> power_watts = {};
  /// Whether the device is idle; `clock_mhz` is then not the clock under load.
  bool resting = false;
  std::vector<std::string> throttled_by = {};  // reasons active at this moment
  std::vector<ThrottleCounter> throttle_counters = {};
  std::optional<ThreadTimes> threads = {};  // summed over the streams for which it was read
  friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace parbench
