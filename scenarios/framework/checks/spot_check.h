// Results recomputed naively in double at selected positions: verification without a reference run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/ops/ops.h"

namespace parbench {

/// A dot product in double, with the sum of its terms' magnitudes for the error bound.
struct Expected {
  double value = 0;
  double magnitude = 0;

  void add(double a, double b) {
    value += a * b;
    magnitude += a * b < 0 ? -a * b : a * b;
  }
};

/// Returns whether a computed value agrees with the sum. The tolerance is 1e-5 of the terms'
/// magnitudes (the worst case of f32 accumulation over some hundred terms), plus the effect of
/// rounding their factors (`lost_in_products`), plus the rounding of the result to its type: 2⁻⁸ of
/// a bf16, 2⁻²³ of an f32.
[[nodiscard]] bool agrees(float got, const Expected& want, NumberFormat format);

/// Returns the maximum relative error of a product whose two f32 factors are first converted to the
/// format: TF32 keeps 10 bits of mantissa, and truncation loses less than 2⁻¹⁰ of a factor. Other
/// formats use the factors in memory unchanged.
[[nodiscard]] double lost_in_products(NumberFormat format);

/// Returns the positions to check, sorted and without duplicates: all corners, and `random_count`
/// positions drawn with a fixed seed.
[[nodiscard]] std::vector<Shape> spot_positions(const Shape& shape, int random_count);

/// A convolution of one image. All data is canonical f32.
struct ConvolutionProbe {
  ConvolutionShape shape;          // its batch is ignored; groups must be 1
  std::span<const float> source;   // {in_channels, height, width}
  std::span<const float> weights;  // {out_channels, in_channels, kernel, kernel}
  std::span<const float> bias;     // {out_channels}, or empty
  std::span<const float> result;   // {out_channels, out_height, out_width}
  bool relu = false;               // whether the result is clamped at zero
};

/// Checks the result at `spot_positions`. Returns a message about the first wrong position, with
/// both values, or nothing.
[[nodiscard]] std::optional<std::string> spot_check(const ConvolutionProbe& probe,
                                                    NumberFormat format, int random_count);

/// Computes the value at position {channel, y, x}, including bias and clamping.
[[nodiscard]] Expected expected_at(const ConvolutionProbe& probe, const Shape& position);

/// c = a·b for selected rows. `a_rows` and `c_rows` contain only these rows, one after the other.
struct ProductProbe {
  std::int64_t columns = 0;       // columns of b and c
  std::int64_t inner = 0;         // columns of a, rows of b
  std::span<const float> a_rows;  // {chosen rows, inner}
  std::span<const float> b;       // {inner, columns}
  std::span<const float> c_rows;  // {chosen rows, columns}
};

/// Checks the first, the last and up to `random_count` random columns of every selected row.
/// Returns a message about the first wrong position (with the index among the selected rows), or
/// nothing.
[[nodiscard]] std::optional<std::string> spot_check(const ProductProbe& probe, NumberFormat format,
                                                    int random_count);

}  // namespace parbench
