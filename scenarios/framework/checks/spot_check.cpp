// Naive convolution and matrix product at single positions.
#include "scenarios/framework/checks/spot_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace parbench {
namespace {

// arbitrary; fixed, so that positions are the same in every run
constexpr std::uint64_t position_seed = 20;

std::string wrong_at(const std::string& position, float got, double want) {
  return fmt::format("at {} it is {}, computed naively {}", position, got, want);
}

}  // namespace

double lost_in_products(NumberFormat format) {
  return format.math == MathMode::tf32 ? 2 * 0x1p-10 : 0;
}

bool agrees(float got, const Expected& want, NumberFormat format) {
  const double rounding = format.dtype == DType::bf16 ? std::ldexp(1.0, -8) : std::ldexp(1.0, -23);
  const double of_terms = 1e-5 + lost_in_products(format);
  const double allowed = of_terms * want.magnitude + rounding * std::abs(want.value) + 1e-30;
  return std::abs(static_cast<double>(got) - want.value) <= allowed;  // false for NaN
}

std::vector<Shape> spot_positions(const Shape& shape, int random_count) {
  std::vector<Shape> positions;
  const std::size_t corners = std::size_t{1} << shape.size();
  for (std::size_t corner = 0; corner < corners; ++corner) {
    Shape position(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      position[d] = (corner >> d & 1U) != 0 ? shape[d] - 1 : 0;
    }
    positions.push_back(std::move(position));
  }
  std::mt19937_64 generator(position_seed);
  for (int i = 0; i < random_count; ++i) {
    Shape position(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      position[d] = static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(shape[d]));
    }
    positions.push_back(std::move(position));
  }
  std::ranges::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

Expected expected_at(const ConvolutionProbe& probe, const Shape& position) {
  const ConvolutionShape& s = probe.shape;
  const std::int64_t channel = position[0];
  Expected want;
  if (!probe.bias.empty()) want.add(probe.bias[channel], 1.0);
  for (std::int64_t in = 0; in < s.in_channels; ++in) {
    for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
      const std::int64_t y = position[1] * s.stride - s.padding + ky * s.dilation;
      if (y < 0 || y >= s.height) continue;
      for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
        const std::int64_t x = position[2] * s.stride - s.padding + kx * s.dilation;
        if (x < 0 || x >= s.width) continue;
        want.add(probe.source[(in * s.height + y) * s.width + x],
                 probe.weights[((channel * s.in_channels + in) * s.kernel + ky) * s.kernel + kx]);
      }
    }
  }
  if (probe.relu) want.value = std::max(want.value, 0.0);
  return want;
}

std::optional<std::string> spot_check(const ConvolutionProbe& probe, NumberFormat format,
                                      int random_count) {
  const ConvolutionShape& s = probe.shape;
  const Shape result = {s.out_channels, s.out_height(), s.out_width()};
  for (const Shape& position : spot_positions(result, random_count)) {
    const float got =
        probe.result[(position[0] * result[1] + position[1]) * result[2] + position[2]];
    const Expected want = expected_at(probe, position);
    if (!agrees(got, want, format)) {
      return wrong_at(
          fmt::format("channel {}, row {}, column {}", position[0], position[1], position[2]), got,
          want.value);
    }
  }
  return std::nullopt;
}

std::optional<std::string> spot_check(const ProductProbe& probe, NumberFormat format,
                                      int random_count) {
  const auto rows = static_cast<std::int64_t>(probe.c_rows.size()) / probe.columns;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const Shape& position : spot_positions({probe.columns}, random_count)) {
      const std::int64_t column = position[0];
      Expected want;
      for (std::int64_t i = 0; i < probe.inner; ++i) {
        want.add(probe.a_rows[row * probe.inner + i], probe.b[i * probe.columns + column]);
      }
      const float got = probe.c_rows[row * probe.columns + column];
      if (!agrees(got, want, format)) {
        return wrong_at(fmt::format("row {} of the checked rows, column {}", row, column), got,
                        want.value);
      }
    }
  }
  return std::nullopt;
}

}  // namespace parbench
