// Formats times, sizes, rates and ratios for all texts of the suite.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/units/interval.h"

namespace parbench {

/// Text for numbers that are not finite.
inline constexpr std::string_view no_number = "–";

/// Formats a measured time with four significant digits: "812.0 ns", "12.35 µs", "1.083 s".
[[nodiscard]] std::string format_duration(double seconds);

/// Formats a waiting time in whole seconds, from an hour on in whole minutes: "45 s", "2 min 05 s",
/// "1 h 02 min".
[[nodiscard]] std::string format_wait(double seconds);

/// Formats a size in binary units with three significant digits: "512 B", "1.21 GiB".
[[nodiscard]] std::string format_bytes(double bytes);

/// Formats several sizes in the unit of the largest: "1.21 + 0.98 GiB". Empty without sizes.
[[nodiscard]] std::string format_bytes(std::span<const double> sizes);

/// Formats an amount with three significant digits and the prefixes of `format_rate`: "3.90 GFLOP".
[[nodiscard]] std::string format_amount(double amount, std::string_view unit);

/// Formats a rate with three significant digits. FLOP, B and items take SI prefixes ("141 GFLOP/s",
/// "12.3 GB/s", "1.27 Gitems/s"); other units do not ("44.3 images/s", "12300 images/s").
[[nodiscard]] std::string format_rate(double per_second, std::string_view unit);

/// Returns "1 case", "3 cases", "2 processes".
[[nodiscard]] std::string format_count(std::size_t count, std::string_view thing);
[[nodiscard]] std::string format_count(std::signed_integral auto count, std::string_view thing) {
  return format_count(static_cast<std::size_t>(count), thing);
}

/// Returns "a", "a and b", "a, b, c and d", "a, b, c and 2 more".
[[nodiscard]] std::string format_list(const std::vector<std::string>& items);

/// Formats a share with the given number of decimals: 0.954 → "95.4%".
[[nodiscard]] std::string format_percent(double fraction, int decimals = 1);

/// Formats a share and its interval with equal numbers of decimals: "75% (73–77%)", "2% (−3 to
/// 6%)". One decimal if both ends look equal without any; up to two if an end other than 0 would
/// look like 0.
[[nodiscard]] std::string format_percent(double fraction, double low, double high);

/// Formats a speedup: "1.71×", "12.3×", "0.042×".
[[nodiscard]] std::string format_ratio(double ratio);

/// Formats a ratio and its interval with equal numbers of decimals: "1.71× (1.69–1.73)". Adds one
/// decimal if both ends would look equal. Adds decimals, up to six in total, to show on which side
/// of 1 each end is: "1.0042× (1.0003–1.0191)".
[[nodiscard]] std::string format_ratio(double ratio, double low, double high);

/// Returns "1.71× (1.69–1.73)"; without an interval "1.71×". Adds a confidence below the wanted one
/// (with_confidence).
[[nodiscard]] std::string format_ratio(const Ratio& ratio);

/// Returns "75% (73–77%)"; without an interval "75%". Adds a confidence in the same way.
[[nodiscard]] std::string format_percent(const Ratio& fraction);

/// Formats a confidence, without needless digits: "87.5%".
[[nodiscard]] std::string format_confidence(double confidence);

/// Adds a confidence below the wanted one to the brackets at the end of `text`: "1.71× (1.69–1.73)"
/// becomes "1.71× (1.69–1.73 at 75% confidence)".
[[nodiscard]] std::string with_confidence(std::string text, const Interval& interval);

/// Formats a number with up to `significant` digits and no trailing zeros: "0.5", "12", "1e+09".
[[nodiscard]] std::string format_number(double value, int significant = 6);

}  // namespace parbench
