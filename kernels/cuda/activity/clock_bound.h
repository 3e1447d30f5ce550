// The error of a device's times after their conversion to the host's clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/core/activity.h"

namespace parbench::cuda {

/// Bounds the offset between recorded and true times. Work that ran between two readings of the
/// host's clock implies that recorded − true lies in [recorded end − second reading, recorded begin
/// − first reading]. The tightest bound on each side is used, assuming that the offset does not
/// change in between.
class ClockBound {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void add(Time before, const Activity& recorded, Time after) {
    max_early_ = std::min(max_early_, Seconds(after - recorded.end));
    max_late_ = std::min(max_late_, Seconds(recorded.begin - before));
  }

  /// Returns the error in seconds; infinite before anything was added. If the offset did change,
  /// the bounds contradict each other, and the error includes the contradiction.
  [[nodiscard]] double error() const {
    return std::max(std::abs(max_early_.count()), std::abs(max_late_.count()));
  }

 private:
  using Seconds = std::chrono::duration<double>;
  static constexpr Seconds unknown{std::numeric_limits<double>::infinity()};

  Seconds max_early_ = unknown;  // maximum by which recorded times are too early
  Seconds max_late_ = unknown;   // maximum by which recorded times are too late
};

}  // namespace parbench::cuda
