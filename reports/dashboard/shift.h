// Estimates the size of a change of level from the values on both sides, without assuming a
// distribution.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/base/units/interval.h"

namespace parbench::report {

struct Shift {
  double value = 0;
  Interval interval;
};

/// Estimates the shift from `before` to `after` by the Hodges–Lehmann estimator: the median of all
/// differences between a value after and a value before. The interval is the one of the
/// Mann–Whitney test (Hollander, Wolfe, Chicken: "Nonparametric Statistical Methods", 3rd ed., 4.2
/// and 4.3), bounded by two order statistics of the differences. As in `median_interval`, it is the
/// narrowest pair that reaches the wanted confidence, or else the widest pair with the confidence
/// it has. The interval assumes that the values were not selected by size, so at a change point
/// found by a search it is slightly too narrow. Both sides need at least one value; the cost is
/// that of sorting all differences.
[[nodiscard]] Shift shift_between(std::span<const double> before, std::span<const double> after);

/// Returns P(U ≤ u) of the Mann–Whitney statistic for `m` and `n` values of one continuous
/// distribution.
[[nodiscard]] double mann_whitney_cdf(std::size_t u, std::size_t m, std::size_t n);

}  // namespace parbench::report
