// The interval of a measured number, with the confidence that it has.
#pragma once

#include <optional>

namespace parbench::report {

/// What every interval is to reach; order statistics of few samples do not.
inline constexpr double wanted_confidence = 0.95;

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

}  // namespace parbench::report
