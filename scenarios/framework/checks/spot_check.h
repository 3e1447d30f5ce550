// Results recomputed naively in double at chosen places: verification that needs no reference run.
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

/// Whether a computed value can be this sum: off by at most 1e-5 of its terms' magnitudes (the
/// worst case of f32 accumulation over some hundred terms), what cutting their factors may cost
/// (`lost_in_products`), and half a unit in the last place of the result's type.
[[nodiscard]] bool agrees(float got, const Expected& want, NumberFormat format);

/// The share of a product's magnitude that it may be off by when each of its two f32 factors is
/// brought into the format first: TF32 keeps 10 bits of mantissa, and what is cut off by dropping
/// bits is below 2⁻¹⁰ of a factor. Other formats multiply what memory holds.
[[nodiscard]] double lost_in_products(NumberFormat format);

/// Positions to check: the ends of every dimension (all corners), then positions drawn from the
/// generator with a fixed seed.
[[nodiscard]] std::vector<Shape> spot_positions(const Shape& shape, int random_count);

/// One image through a convolution. All data canonical f32.
struct ConvolutionProbe {
  ConvolutionShape shape;          // its batch does not matter; groups must be 1
  std::span<const float> source;   // {in_channels, height, width}
  std::span<const float> weights;  // {out_channels, in_channels, kernel, kernel}
  std::span<const float> bias;     // {out_channels}, or empty
  std::span<const float> result;   // {out_channels, out_height, out_width}
  bool relu = false;               // clamped at zero
};

/// Returns the first position whose value is wrong, with both values, or nothing.
[[nodiscard]] std::optional<std::string> spot_check(const ConvolutionProbe& probe,
                                                    NumberFormat format, int random_count);

/// The value at one position of {channel, y, x}, clamped where the result is.
[[nodiscard]] Expected expected_at(const ConvolutionProbe& probe, const Shape& position);

/// c = a·b at chosen rows. Rows of `a` and `c` are given one after the other for these rows only.
struct ProductProbe {
  std::int64_t columns = 0;       // of b and c
  std::int64_t inner = 0;         // columns of a, rows of b
  std::span<const float> a_rows;  // {chosen rows, inner}
  std::span<const float> b;       // {inner, columns}
  std::span<const float> c_rows;  // {chosen rows, columns}
};

/// Checks the first and last columns of every chosen row and `random_count` columns drawn between.
/// Returns the first wrong position (row counted among the chosen ones), or nothing.
[[nodiscard]] std::optional<std::string> spot_check(const ProductProbe& probe, NumberFormat format,
                                                    int random_count);

}  // namespace parbench
