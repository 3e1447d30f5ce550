// Intervals of measured numbers with their confidence, and ratios of times.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace parbench {

/// The confidence that every interval should reach; order statistics of few samples do not reach
/// it.
inline constexpr double wanted_confidence = 0.95;

/// Min number of independent values (samples or processes) for an interval of `wanted_confidence`.
inline constexpr std::size_t needed_values = 6;

struct Interval {
  double low = 0;
  double high = 0;
  // reached confidence, for example 0.969: order statistics cannot reach exactly 0.95
  double confidence = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Returns whether there is an interval and its confidence is below the wanted one, because the
/// interval was computed from too few values.
[[nodiscard]] inline bool is_low(const std::optional<Interval>& interval) {
  return interval && interval->confidence < wanted_confidence;
}

/// A ratio of the times of two cases, or a number computed from the times of several cases. Only
/// rounds in which all of these cases were sampled count.
struct Ratio {
  double value = 0;
  std::optional<Interval> interval = {};  // none for a single round
  std::string baseline = {};              // for a speedup, name of the baseline case

  /// Return whether the whole interval is above or below a number; false without an interval.
  [[nodiscard]] bool above(double number) const { return interval && interval->low > number; }
  [[nodiscard]] bool below(double number) const { return interval && interval->high < number; }
  friend bool operator==(const Ratio&, const Ratio&) = default;
};

}  // namespace parbench
