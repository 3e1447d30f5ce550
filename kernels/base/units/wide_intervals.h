// Intervals that are too wide to be useful, and their text.
#pragma once

#include <string>
#include <string_view>

#include "kernels/base/units/interval.h"

namespace parbench {

/// Text of an interval that is too wide to be useful.
inline constexpr std::string_view unknown_text = "unknown";

/// Largest relative error that is shown: ±1000%.
inline constexpr double max_known_error = 10;

/// Returns whether the interval of a relative change includes 0 and reaches beyond +1000%.
[[nodiscard]] inline bool is_unknown_change(const Interval& change) {
  return change.low <= 0 && change.high > max_known_error;
}

/// Returns half the width of an interval, relative to its number: "± 7.0%"; "unknown" above 1000%.
[[nodiscard]] std::string half_width_text(double fraction);

}  // namespace parbench
