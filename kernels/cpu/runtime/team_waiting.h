// Time that the threads of an OpenMP team wait for each other while an operation runs.
#pragma once

#include <chrono>

namespace parbench::cpu {

/// Measures the parallel regions that the calling thread starts while the meter exists, including
/// regions in libraries. A thread may have one meter at a time.
///
/// team_waiting.cpp replaces the functions of GNU's OpenMP library that start a region and wait at
/// a barrier. The replacements call the library's own functions, and measure them if the thread
/// that started the region has a meter.
class TeamMeter {
 public:
  TeamMeter();
  ~TeamMeter();
  TeamMeter(const TeamMeter&) = delete;
  TeamMeter& operator=(const TeamMeter&) = delete;

  /// Returns the idle time of a thread, averaged over a team of `threads`, out of `whole`, the time
  /// since the meter was made. A thread is idle until its part of a region begins, at barriers,
  /// after its part has ended, and while the calling thread works alone.
  [[nodiscard]] std::chrono::nanoseconds waiting(std::chrono::nanoseconds whole, int threads) const;

  /// Adds a region that has ended. `worked`: working time, summed over all threads.
  void add(std::chrono::nanoseconds region, std::chrono::nanoseconds worked) {
    in_regions_ += region;
    worked_ += worked;
  }

 private:
  std::chrono::nanoseconds in_regions_{0};
  std::chrono::nanoseconds worked_{0};
};

}  // namespace parbench::cpu
