// Compares block by block, in double precision.
#include "scenarios/framework/checks/agreement.h"

#include <limits>

#include "kernels/base/simd.h"

namespace parbench {
namespace {

/// Factor of the norm of a block's changes by roundings (Sensitivity). The norm of its errors may
/// be as large as this product plus the norm of its tolerances.
constexpr double seen_changes = 2;

/// Uses one sum per SIMD lane: the compiler may not reorder the additions of a single sum.
PARBENCH_SIMD double sum_of_squares(const float* values, std::size_t count) {
  constexpr std::size_t lanes = 16;
  // NOLINT(modernize-avoid-c-arrays): with std::array it is not vectorised
  double sums[lanes] = {};
  const std::size_t whole = count - count % lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  double sum = 0;
  for (const double lane : sums) sum += lane;
  for (std::size_t i = whole; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  return sum;
}

double root_mean_square(std::span<const float> values) {
  if (values.empty()) return 0;
  return std::sqrt(sum_of_squares(values.data(), values.size()) /
                   static_cast<double>(values.size()));
}

/// Allowed error of an element.
struct Allowance {
  Tolerance tolerance;
  double scale = 0;  // root mean square of the tensor; not finite if one of its elements is not
};

/// Returns whether the error of an element exceeds `worst` times its allowance (Tolerance::allowed,
/// without branches), or is NaN. All elements of the reference must be finite.
PARBENCH_SIMD bool any_beyond(const float* got, const float* want, std::size_t count,
                              Allowance allowance, double worst) {
  int beyond = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = want[i];
    const double error = std::abs(got[i] - expected);
    const double size = std::abs(expected);
    const double allowed =
        allowance.tolerance.absolute +
        allowance.tolerance.relative * (size > allowance.scale ? size : allowance.scale);
    beyond |= error <= worst * allowed ? 0 : 1;
  }
  return beyond != 0;
}

double ratio(double error, double allowed) {
  if (error == 0) return 0;
  return allowed > 0 ? error / allowed : std::numeric_limits<double>::max();
}

/// A block of both tensors, and the norm of its changes by roundings.
struct Block {
  std::span<const float> got;
  std::span<const float> want;
  std::size_t first = 0;  // index of its first value
  double change = 0;
};

void compare_block(const Block& block, const Allowance& allowance, Agreement& found) {
  double largest = 0;
  std::size_t where = block.first;
  double errors = 0;
  double allowances = 0;
  for (std::size_t i = 0; i < block.want.size(); ++i) {
    if (!std::isfinite(block.got[i]) || !std::isfinite(block.want[i])) {
      if (!found.not_finite) found.not_finite = block.first + i;
      continue;
    }
    const double expected = block.want[i];
    const double error = std::abs(block.got[i] - expected);
    const double allowed = allowance.tolerance.allowed(expected, allowance.scale);
    errors += error * error;
    allowances += allowed * allowed;
    if (const double share = ratio(error, allowed); share > largest) {
      largest = share;
      where = block.first + i;
    }
  }
  const double chain =
      allowance.tolerance.of_norm * std::sqrt(sum_of_squares(block.want.data(), block.want.size()));
  if (largest > 1 && (block.change > 0 || chain > 0)) {
    const double changes = std::sqrt(allowances) + seen_changes * block.change;
    largest = std::min(largest, ratio(std::sqrt(errors), std::max(changes, chain)));
  }
  if (largest <= found.largest_error) return;
  found.largest_error = largest;
  found.where = where;
}

}  // namespace

void Sensitivity::add(std::span<const float> changed, std::span<const float> values) {
  squares_.resize(std::max(squares_.size(), (values.size() + size - 1) / size));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double change = static_cast<double>(changed[i]) - values[i];
    squares_[i / size] += change * change;
  }
}

/// If the reference is finite, locates errors only in blocks with an error above the largest one so
/// far, which are rare.
Agreement agreement(std::span<const float> got, std::span<const float> want,
                    const Tolerance& tolerance, const Sensitivity& sensitivity, double ignored) {
  Agreement found{.largest_error = ignored, .where = 0, .not_finite = {}};
  const Allowance allowance{tolerance, root_mean_square(want)};
  const bool finite = std::isfinite(allowance.scale);
  for (std::size_t first = 0; first < want.size(); first += Sensitivity::size) {
    const std::size_t count = std::min(Sensitivity::size, want.size() - first);
    if (finite && !any_beyond(&got[first], &want[first], count, allowance, found.largest_error))
      continue;
    compare_block(
        {.got = got.subspan(first, count),
         .want = want.subspan(first, count),
         .first = first,
         .change = tolerance.is_exact() ? 0 : sensitivity.of_block(first / Sensitivity::size)},
        allowance, found);
  }
  return found;
}

}  // namespace parbench
