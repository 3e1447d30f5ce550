// Intervals that are too wide to show anything about a number, and their text.
#pragma once

#include <string>
#include <string_view>

#include "kernels/base/units/interval.h"

namespace parbench {

/// The text of an interval that is too wide.
inline constexpr std::string_view unknown_text = "unknown";

/// The largest relative error that is shown as a number: ±1000%.
inline constexpr double max_known_error = 10;

/// Returns whether the interval of a relative change contains 0 (no change) and reaches beyond
/// +1000%.
[[nodiscard]] inline bool is_unknown_change(const Interval& change) {
  return change.low <= 0 && change.high > max_known_error;
}

/// Formats the half-width of an interval relative to its number: "± 7.0%"; "unknown" above 1000%.
[[nodiscard]] std::string half_width_text(double fraction);

}  // namespace parbench
