// Windows that move over an image: what convolutions and poolings have in common.
#pragma once

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench {

/// Square, with equal stride, dilation and padding in both directions.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t trailing = 0;  // rows below and columns on the right, padded beyond `padding`

  /// The rows, and the columns, from the first that the window reads to the last.
  [[nodiscard]] std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
  /// The number of positions along the height or width of an image. Throws std::invalid_argument
  /// where there is none.
  [[nodiscard]] std::int64_t positions(std::int64_t image) const;
  /// {channels, H, W} after the window has moved over {…, H, W}. Throws std::invalid_argument for
  /// an input that is no image.
  [[nodiscard]] Shape output(std::int64_t channels, const Shape& image) const;

  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace parbench
