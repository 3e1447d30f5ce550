// How large a change of level is, from the values on both sides, without assuming a distribution.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/base/units/interval.h"

namespace parbench::report {

/// A shift and the interval that holds the true one.
struct Shift {
  double value = 0;
  Interval interval;
};

/// Estimates how much `after` lies above `before`: Hodges and Lehmann's estimate, the median of all
/// differences of a value after and a value before, with the interval that goes with Mann and
/// Whitney's test (Hollander, Wolfe, Chicken: "Nonparametric Statistical Methods", 3rd ed., 4.2 and
/// 4.3): two order statistics of those differences. As for `median_interval`, it is the closest
/// pair that reaches the confidence wanted, or the widest with the confidence that it has. It holds
/// for values that were not chosen for their size; where a change point was searched for, it is
/// a little too narrow. Both sides have at least one value; the cost is that of sorting all
/// differences.
[[nodiscard]] Shift shift_between(std::span<const double> before, std::span<const double> after);

/// P(U ≤ u) of Mann and Whitney's statistic of `m` and `n` values of one continuous distribution.
[[nodiscard]] double mann_whitney_cdf(std::size_t u, std::size_t m, std::size_t n);

}  // namespace parbench::report
