// Formatting of times, sizes, rates and ratios for people, used by all texts of the program.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/units/interval.h"

namespace parbench {

/// Text of all functions below for a number that is not finite.
inline constexpr std::string_view no_number = "–";

/// Formats a measured time with four significant digits: "812.0 ns", "12.35 µs", "634.1 ms", "1.083
/// s".
[[nodiscard]] std::string format_duration(double seconds);

/// Formats a waiting time in whole seconds: "45 s", "2 min 05 s", "1 h 02 min".
[[nodiscard]] std::string format_wait(double seconds);

/// Formats a size in binary units with three significant digits: "512 B", "1.21 GiB".
[[nodiscard]] std::string format_bytes(double bytes);

/// Formats several sizes in the unit of the largest: "1.21 + 0.98 GiB". Empty without any.
[[nodiscard]] std::string format_bytes(std::span<const double> sizes);

/// Formats an amount of a unit with three significant digits, as in `format_rate`: "3.9 GFLOP".
[[nodiscard]] std::string format_amount(double amount, std::string_view unit);

/// Formats a rate of a unit with three significant digits. FLOP, B and the items of benchmarks take
/// SI prefixes ("141 GFLOP/s", "12.3 GB/s", "1.27 Gitems/s"); other units do not ("44.3 images/s",
/// "12300 images/s").
[[nodiscard]] std::string format_rate(double per_second, std::string_view unit);

/// Returns "1 case" or "3 cases".
[[nodiscard]] std::string format_count(std::size_t count, std::string_view thing);

/// Returns "a", "a and b", "a, b, c and d" or "a, b, c and 2 more".
[[nodiscard]] std::string format_list(const std::vector<std::string>& items);

/// Formats a share with that number of decimals: "95.4%" for 0.954.
[[nodiscard]] std::string format_percent(double fraction, int decimals = 1);

/// Formats a share and its interval with the same number of decimals: "75% (73–77%)", "2% (−3 to
/// 6%)". Adds a decimal if both ends would look alike, and up to two if an end would look like 0.
[[nodiscard]] std::string format_percent(double fraction, double low, double high);

/// Formats a speedup: "1.71×", "12.3×", "0.042×".
[[nodiscard]] std::string format_ratio(double ratio);

/// Formats a ratio and its interval with the same number of decimals: "1.71× (1.69–1.73)". Adds a
/// decimal if both ends would look alike, and further ones until it is visible on which side of 1
/// each end is: "1.0042× (1.0003–1.0191)".
[[nodiscard]] std::string format_ratio(double ratio, double low, double high);

/// Formats a ratio with its interval, if it has one: "1.71× (1.69–1.73)". Adds the confidence if it
/// is less than wanted.
[[nodiscard]] std::string format_ratio(const Ratio& ratio);

/// Formats a share with its interval in the same way: "75% (73–77%)".
[[nodiscard]] std::string format_percent(const Ratio& fraction);

/// Formats a confidence, the share of intervals that contain the true value: "87.5%".
[[nodiscard]] std::string format_confidence(double confidence);

/// Adds the confidence to the brackets that end `text`, if it is less than wanted: "1.71×
/// (1.69–1.73)" becomes "1.71× (1.69–1.73 at 75% confidence)".
[[nodiscard]] std::string with_confidence(std::string text, const Interval& interval);

/// Formats a plain number with up to `significant` digits and no trailing zeros: "0.5", "12",
/// "1e+09".
[[nodiscard]] std::string format_number(double value, int significant = 6);

}  // namespace parbench
