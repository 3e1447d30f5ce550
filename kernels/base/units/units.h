// One way to write times, sizes, rates and ratios for people, used by every text of the suite.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/units/interval.h"

namespace parbench {

/// What every function below writes for a number that is not finite.
inline constexpr std::string_view no_number = "–";

/// A measured time with four significant digits: "812.0 ns", "12.35 µs", "634.1 ms", "1.083 s".
[[nodiscard]] std::string format_duration(double seconds);

/// A time to wait, in whole seconds: "45 s", "2 min 05 s", "1 h 02 min".
[[nodiscard]] std::string format_wait(double seconds);

/// A size in binary units with three significant digits: "512 B", "1.21 GiB".
[[nodiscard]] std::string format_bytes(double bytes);

/// Several sizes in the unit of the largest: "1.21 + 0.98 GiB". Empty without any.
[[nodiscard]] std::string format_bytes(std::span<const double> sizes);

/// An amount of a unit with three significant digits, as in `format_rate`: "3.9 GFLOP".
[[nodiscard]] std::string format_amount(double amount, std::string_view unit);

/// `per_second` of a unit, with three significant digits. FLOP, B and the items of benchmarks take
/// SI prefixes ("141 GFLOP/s", "12.3 GB/s", "1.27 Gitems/s"); other things that are counted do not
/// ("44.3 images/s", "12300 images/s").
[[nodiscard]] std::string format_rate(double per_second, std::string_view unit);

/// "1 case", "3 cases".
[[nodiscard]] std::string format_count(std::size_t count, std::string_view thing);

/// "a", "a and b", "a, b, c and d", "a, b, c and 2 more".
[[nodiscard]] std::string format_list(const std::vector<std::string>& items);

/// A share, 0.954 → "95.4%". Digits behind the point as given.
[[nodiscard]] std::string format_percent(double fraction, int decimals = 1);

/// A share and its interval with the same digits: "75% (73–77%)", "2% (−3 to 6%)". One decimal
/// where none would show both ends alike, and up to two where an end would seem to be 0.
[[nodiscard]] std::string format_percent(double fraction, double low, double high);

/// A speedup: "1.71×", "12.3×", "0.042×".
[[nodiscard]] std::string format_ratio(double ratio);

/// A ratio and its interval with the same digits: "1.71× (1.69–1.73)". Three decimals instead of
/// two where two would show both ends alike, and as many as show on which side of 1 each end is:
/// "1.0042× (1.0003–1.0191)".
[[nodiscard]] std::string format_ratio(double ratio, double low, double high);

/// "1.71× (1.69–1.73)"; without an interval no brackets, with one of few samples its confidence.
[[nodiscard]] std::string format_ratio(const Ratio& ratio);

/// "75% (73–77%)", as the ratio.
[[nodiscard]] std::string format_percent(const Ratio& fraction);

/// A share of intervals that hold what they are about: "87.5%".
[[nodiscard]] std::string format_confidence(double confidence);

/// Names the confidence in the brackets that end `text` where it is less than wanted: "1.71×
/// (1.69–1.73)" becomes "1.71× (1.69–1.73 at 75% confidence)".
[[nodiscard]] std::string with_confidence(std::string text, const Interval& interval);

/// A plain number with up to `significant` digits and no trailing zeros: "0.5", "12", "1e+09".
[[nodiscard]] std::string format_number(double value, int significant = 6);

}  // namespace parbench
