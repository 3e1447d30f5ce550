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
    most_early_ = std::min(most_early_, Seconds(after - told.end));
    most_late_ = std::min(most_late_, Seconds(told.begin - before));
  }

  /// In seconds; infinite before anything was added. Readings that contradict each other, because
  /// the offset did change, count with their amount.
  [[nodiscard]] double error() const {
    return std::max(std::abs(most_early_.count()), std::abs(most_late_.count()));
  }

 private:
  using Seconds = std::chrono::duration<double>;
  static constexpr Seconds unknown{std::numeric_limits<double>::infinity()};

  Seconds most_early_ = unknown;  // by how much the times told are too early at most
  Seconds most_late_ = unknown;   // and too late
};

}  // namespace parbench::cuda
