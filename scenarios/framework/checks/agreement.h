// Comparison of two results of one computation whose sums were added in different orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace parbench {

/// Tolerance of a value against its reference: |got − want| ≤ absolute + relative·max(|want|, rms
/// of the whole reference tensor).
struct Tolerance {
  double relative = 1e-4;
  double absolute = 1e-6;
  /// If above 0, a block (Sensitivity) also passes if the norm of its errors is at most this
  /// multiple of the norm of its reference values. Needed after several operations in a row, whose
  /// roundings affect some values more than others.
  double of_norm = 0;

  /// Returns the maximum error of a value; `scale` is the root mean square of the reference tensor.
  [[nodiscard]] double allowed(double want, double scale) const {
    return absolute + relative * std::max(std::abs(want), scale);
  }

  /// Returns whether results must be equal.
  [[nodiscard]] bool is_exact() const { return relative == 0 && absolute == 0 && of_norm == 0; }
};

/// Effect of different roundings on a tensor: the norm of the changes of each block, a range of
/// `size` consecutive values. A rounding that moves a value across zero switches the gradient of a
/// ReLU on or off, which changes gradients far more than it changes the value. Which gradients
/// change is random, so a block is large enough for the weights of several outputs of a layer.
class Sensitivity {
 public:
  static constexpr std::size_t size = 16384;

  /// Adds the difference between two results whose roundings differ.
  void add(std::span<const float> changed, std::span<const float> values);

  /// Returns the norm of all added changes of a block; 0 if unknown.
  [[nodiscard]] double of_block(std::size_t block) const {
    return block < squares_.size() ? std::sqrt(squares_[block]) : 0;
  }

 private:
  std::vector<double> squares_;  // squared norms, by block
};

/// Result of comparing two tensors of equal size. They agree if `largest_error` is at most 1 and
/// all values are finite.
struct Agreement {
  /// Maximum of error / allowed error among finite values; for a block that may pass by the norm of
  /// its errors, norm / allowed norm if that is smaller.
  double largest_error = 0;
  std::size_t where = 0;  // index of the value with this error, or of its block's worst value
  std::optional<std::size_t> not_finite;  // index of the first value that is infinite or NaN

  [[nodiscard]] bool holds() const { return !not_finite && largest_error <= 1; }
};

/// Compares values by Tolerance. A block with a value that exceeds its tolerance also passes in two
/// cases: `sensitivity` has changes of the block, and the norm of its errors is at most the norm of
/// its tolerances plus twice the norm of these changes; or the norm of its errors is within
/// `Tolerance::of_norm`. If results must be equal, `sensitivity` has no effect. `ignored`:
/// `largest_error` of the result is at least this; smaller errors are not located.
[[nodiscard]] Agreement agreement(std::span<const float> got, std::span<const float> want,
                                  const Tolerance& tolerance, const Sensitivity& sensitivity = {},
                                  double ignored = 0);

}  // namespace parbench
