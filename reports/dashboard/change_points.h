// Where the level of a series changed: E-divisive, for series of any length.
//
// Matteson, James: "A nonparametric approach for multiple change point analysis of multivariate
// data", JASA 109 (2014). Two stretches of m and l values differ by the sample energy distance with
// α = 1,
//   E = 2/(m·l)·Σ|x − y| − 2/(m(m−1))·Σ|x − x'| − 2/(l(l−1))·Σ|y − y'|   (sums over pairs),
//   Q = m·l/(m + l)·E.
// The estimate in a segment is the τ of the largest Q over all τ < κ, of the values before τ
// against those from τ to κ. A permutation test says whether the segment has a change at all; if
// so, the parts on both sides are searched in the same way.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace parbench::report {

struct ChangePointParameters {
  /// Significance of the test of one segment: the share of segments without a change in which one
  /// is called.
  double significance = 0.01;
  int permutations = 199;
  std::size_t min_segment = 3;  // values between two changes
  /// A longer series is searched in windows of so many values, each half a window after the last,
  /// and a change is taken from the window in whose middle half it lies: the cost is linear in the
  /// length, and what was found does not move as the series grows, but for the last window's.
  /// Two windows may see one change at places that differ a little. So a window also answers for an
  /// eighth of its length beyond its middle half and behind each change that it has taken, and the
  /// next one for what is left from an eighth before that half's end on.
  std::size_t window = 200;
};

/// A shorter series has no change by the parameters above, however large the step in it: too many
/// of its permutations have one as large.
inline constexpr std::size_t min_values_with_a_change = 9;

/// The places of the first values after each change, ascending. The same values always give the
/// same places: permutations come from a generator with a fixed seed. Values are finite and
/// exchangeable between changes; the unit does not matter.
[[nodiscard]] std::vector<std::size_t> change_points(std::span<const double> values,
                                                     const ChangePointParameters& parameters = {});

}  // namespace parbench::report
