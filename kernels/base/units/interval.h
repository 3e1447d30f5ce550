// The interval of a measured number, with the confidence that it has, and ratios of times.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace parbench {

/// What every interval is to reach; order statistics of few samples do not.
inline constexpr double wanted_confidence = 0.95;

/// Independent values, of samples or processes, that an interval of this confidence needs.
inline constexpr std::size_t needed_values = 6;

struct Interval {
  double low = 0;
  double high = 0;
  double confidence =
      0;  // that was reached, for example 0.969; order statistics cannot hit 0.95 exactly
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Too few samples for the confidence that is wanted.
[[nodiscard]] inline bool is_low(const std::optional<Interval>& interval) {
  return interval && interval->confidence < wanted_confidence;
}

/// A ratio of times, or a number made of several, from rounds in which all of them were measured.
struct Ratio {
  double value = 0;
  std::optional<Interval> interval = {};  // none from a single round
  std::string baseline = {};              // name of the case whose time is divided, if it is one

  /// Whether its whole interval is above a number; unknown, and so false, without an interval.
  [[nodiscard]] bool above(double number) const { return interval && interval->low > number; }
  [[nodiscard]] bool below(double number) const { return interval && interval->high < number; }
  friend bool operator==(const Ratio&, const Ratio&) = default;
};

}  // namespace parbench
