// What a device's sensors report of its state at one moment: how fast it is clocked, how hot it is,
// and what holds it back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace parbench {

/// Grows whenever the device has been throttled for this reason, and never shrinks: two readings
/// that differ say that it happened in between.
struct ThrottleCounter {
  std::string reason;  // "thermal"
  std::int64_t count = 0;
  friend bool operator==(const ThrottleCounter&, const ThrottleCounter&) = default;
};

/// What the operating system did with the host threads that execute a stream, or several, since
/// these threads began. Sums over the threads.
struct ThreadTimes {
  int threads = 0;
  double core_seconds = 0;       // on a core
  double core_wait_seconds = 0;  // ready to run, while other threads had the core
  double kernel_seconds = 0;     // of processor time, in the kernel; in steps of its clock tick
  std::int64_t page_faults = 0;  // that needed no reading from a disk: memory touched first

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

/// Readings of a device's sensors; those that it does not have are absent.
struct Condition {
  std::optional<double> clock_mhz = {};
  /// The clock that it holds under load when nothing throttles it.
  std::optional<double> full_clock_mhz = {};
  std::optional<double> temperature_celsius = {};
  std::optional<double> power_watts = {};
  /// Nothing runs on it, so that its clock is not that under load.
  bool resting = false;
  std::vector<std::string> throttled_by = {};  // reasons that hold at this moment
  std::vector<ThrottleCounter> throttle_counters = {};
  std::optional<ThreadTimes> threads = {};  // of the streams that were asked for
  friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace parbench
