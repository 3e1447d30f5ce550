// How long the threads of an OpenMP team wait for each other while an operation runs.
#pragma once

#include <chrono>

namespace parbench::cpu {

/// Measures the parallel regions that the calling thread starts during its lifetime, those of
/// libraries included. At most one at a time on a thread.
///
/// It sees them because this file defines the functions of GNU's OpenMP library that start a region
/// and that wait at a barrier; they call the library's. Without a meter on the thread that starts a
/// region they do nothing else.
class TeamMeter {
 public:
  TeamMeter();
  ~TeamMeter();
  TeamMeter(const TeamMeter&) = delete;
  TeamMeter& operator=(const TeamMeter&) = delete;

  /// Returns for how long a thread had no work, as a mean over a team of `threads`, out of `whole`,
  /// the time since the meter was made: until its part of a region began, at barriers, after its
  /// part ended, and where the calling thread worked by itself.
  [[nodiscard]] std::chrono::nanoseconds waiting(std::chrono::nanoseconds whole, int threads) const;

  /// A region has ended, on which all threads together worked for so long.
  void add(std::chrono::nanoseconds region, std::chrono::nanoseconds worked) {
    in_regions_ += region;
    worked_ += worked;
  }

 private:
  std::chrono::nanoseconds in_regions_{0};
  std::chrono::nanoseconds worked_{0};
};

}  // namespace parbench::cpu
