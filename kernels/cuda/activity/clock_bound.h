// How far a device's times, told as times of the host, may be off.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/core/activity.h"

namespace parbench::cuda {

/// Work that truly ran between two readings of the host's clock bounds the offset of the times that
/// are told of it: told − true lies in [told end − second reading, told begin − first reading]. Of
/// several, the closest bound on each side counts, as long as the offset does not change in
/// between.
class ClockBound {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void add(Time before, const Activity& told, Time after) {
    max_early_ = std::min(max_early_, Seconds(after - told.end));
    max_late_ = std::min(max_late_, Seconds(told.begin - before));
  }

  /// In seconds; infinite before anything was added. Readings that contradict each other, because
  /// the offset did change, count with their amount.
  [[nodiscard]] double error() const {
    return std::max(std::abs(max_early_.count()), std::abs(max_late_.count()));
  }

 private:
  using Seconds = std::chrono::duration<double>;
  static constexpr Seconds unknown{std::numeric_limits<double>::infinity()};

  Seconds max_early_ = unknown;  // by how much the times told are too early at most
  Seconds max_late_ = unknown;   // and too late
};

}  // namespace parbench::cuda
