// The error of a device's times after their conversion to the host's clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/core/activity.h"

namespace parbench::cuda {

/// Work that truly ran between two readings of the host's clock bounds the offset of its recorded
/// times: recorded − true lies in [recorded end − second reading, recorded begin − first reading].
/// The closest bound on each side counts, as long as the offset does not change in between.
class ClockBound {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void add(Time before, const Activity& recorded, Time after) {
    max_early_ = std::min(max_early_, Seconds(after - recorded.end));
    max_late_ = std::min(max_late_, Seconds(recorded.begin - before));
  }

  /// In seconds; infinite before anything was added. Readings that contradict each other, because
  /// the offset did change, count with their amount.
  [[nodiscard]] double error() const {
    return std::max(std::abs(max_early_.count()), std::abs(max_late_.count()));
  }

 private:
  using Seconds = std::chrono::duration<double>;
  static constexpr Seconds unknown{std::numeric_limits<double>::infinity()};

  Seconds max_early_ = unknown;  // by how much recorded times may be too early
  Seconds max_late_ = unknown;   // or too late
};

}  // namespace parbench::cuda
