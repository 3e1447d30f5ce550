// Windows that move over an image, for convolutions and poolings.
#pragma once

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench {

/// A square window with equal stride, dilation and padding in both directions.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t trailing = 0;  // padding at the bottom and on the right, in addition to `padding`

  /// Returns the number of rows or columns from the first to the last one that the window reads.
  [[nodiscard]] std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
  /// Returns the number of positions of the window along the height or width `image`. Throws
  /// std::invalid_argument if the window is larger than the padded image.
  [[nodiscard]] std::int64_t positions(std::int64_t image) const;
  /// Returns {channels, H, W} after the window has moved over an image. Throws
  /// std::invalid_argument for inputs that are not images, and if the window is larger than the
  /// padded image.
  [[nodiscard]] Shape output(std::int64_t channels, const Shape& image) const;

  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace parbench
