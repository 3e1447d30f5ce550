// The time limit of a run, divided among its parts.
#pragma once

#include <algorithm>
#include <cstddef>

#include "bench/execution/clock.h"

namespace parbench {

class RunLimit {
 public:
  /// `begin`: beginning of the run on the steady clock.
  RunLimit(double total_seconds, double begin)
      : end_(begin + total_seconds - std::min(longest_end, end_share * total_seconds)) {}

  /// Returns the seconds of the next of `parts` parts that share the remaining time, without the
  /// time for report and tables at the end. Later parts inherit unused time.
  [[nodiscard]] double share(std::size_t parts) const {
    return std::max(0.0, end_ - steady_seconds()) / static_cast<double>(parts);
  }

 private:
  static constexpr double end_share = 0.03;
  static constexpr double longest_end = 2;

  double end_;
};

}  // namespace parbench
