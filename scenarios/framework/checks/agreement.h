// Whether two results of one computation agree, although their sums had another order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace parbench {

/// The tolerance of a value against its reference: |got − want| ≤ absolute + relative·max(|want|,
/// rms of the whole reference tensor).
struct Tolerance {
  double relative = 1e-4;
  double absolute = 1e-6;
  /// Where above 0, what the norm of a block's error (Sensitivity) may be of the block's own norm:
  /// of values that a chain of roundings has made, each of which hits some harder.
  double of_norm = 0;

  /// The largest error of one value; `scale` is the root mean square of the reference tensor.
  [[nodiscard]] double allowed(double want, double scale) const {
    return absolute + relative * std::max(std::abs(want), scale);
  }
};

/// How much other roundings can change a tensor, as norms of the changes of its blocks: runs of
/// `size` consecutive values. A rounding that moves a value across zero turns the gradient of a
/// ReLU on or off, which changes gradients by far more than it changes the value. Which of the
/// values near zero cross it is chance, so that a block has as many values as several units have
/// weights.
class Sensitivity {
 public:
  static constexpr std::size_t size = 16384;

  /// Adds a change of the tensor by some roundings.
  void add(std::span<const float> changed, std::span<const float> values);

  /// The norm of the change of a block; 0 where nothing is known.
  [[nodiscard]] double of_block(std::size_t block) const {
    return block < squares_.size() ? std::sqrt(squares_[block]) : 0;
  }

 private:
  std::vector<double> squares_;  // of norms, by block
};

/// Result of a comparison of two tensors of equal size, which agree if `largest_error` is at most 1
/// and all values are finite.
struct Agreement {
  double largest_error = 0;               // over what is allowed; finite
  std::size_t where = 0;                  // index of the value with that error
  std::optional<std::size_t> not_finite;  // index of the first value that is infinite or NaN

  [[nodiscard]] bool holds() const { return !not_finite && largest_error <= 1; }
};

/// Compares value by value by the rule of Tolerance. Where a block has a larger error, the norm of
/// its error may be as large as that of the tolerances of its values and twice that of the changes
/// by roundings, or as large as `of_norm` says. `ignored`: errors up to this one are not located.
[[nodiscard]] Agreement agreement(std::span<const float> got, std::span<const float> want,
                                  const Tolerance& tolerance, const Sensitivity& sensitivity = {},
                                  double ignored = 0);

}  // namespace parbench
