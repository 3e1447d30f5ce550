// Change points of a series of any length, by E-divisive.
//
// Matteson, James: "A nonparametric approach for multiple change point analysis of multivariate
// data", JASA 109 (2014). Two stretches of m and l values differ by the sample energy distance with
// α = 1,
//   E = 2/(m·l)·Σ|x − y| − 2/(m(m−1))·Σ|x − x'| − 2/(l(l−1))·Σ|y − y'|   (sums over pairs),
//   Q = m·l/(m + l)·E.
// The estimated change of a segment is the τ with the max Q over all τ < κ; Q compares the values
// before τ with those from τ to κ. A permutation test decides whether the segment has a change; if
// it has, the parts on both sides are searched in the same way.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace parbench::report {

struct ChangePointParameters {
  /// Significance of the test of one segment: the probability of a false change in a segment
  /// without a change.
  double significance = 0.01;
  int permutations = 199;
  std::size_t min_segment = 3;  // min number of values between two changes
  /// Length of the windows into which a longer series is divided, so that the cost is linear in the
  /// length. Windows overlap by half, and a change is taken from the window whose middle half
  /// contains it. Found changes stay in place as the series grows, except in the last window. Two
  /// windows may place one change slightly differently. Therefore, changes up to an eighth of the
  /// length before or after the border of two middle halves are taken from either window, and the
  /// later one adds none within an eighth after a change of the earlier one.
  std::size_t window = 200;
};

/// Min length of a series in which the parameters above can find a change. In a shorter series, too
/// many permutations reach the same Q for a significant result.
inline constexpr std::size_t min_values_with_a_change = 9;

/// Returns the index of the first value after each change, ascending. Deterministic: the
/// permutations use a fixed seed. Values must be finite and exchangeable between changes; the unit
/// does not matter.
[[nodiscard]] std::vector<std::size_t> change_points(std::span<const double> values,
                                                     const ChangePointParameters& parameters = {});

}  // namespace parbench::report
