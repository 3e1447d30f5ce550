// Time that the threads of an OpenMP team wait for each other while an operation runs.
#pragma once

#include <chrono>

namespace parbench::cpu {

/// Measures the parallel regions that the calling thread starts during its lifetime, including
/// those of libraries. At most one meter at a time per thread.
///
/// This file defines the functions of GNU's OpenMP library that start a region and wait at a
/// barrier. They call the library's own functions, and on threads with a meter measure them.
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
