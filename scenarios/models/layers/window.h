// Windows that move over an image: what convolutions and poolings have in common.
#pragma once

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench {

/// Square, with equal stride and symmetric padding in both directions.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;

  /// The number of positions along an extent. Throws std::invalid_argument where there is none.
  [[nodiscard]] std::int64_t positions(std::int64_t extent) const;
  /// {channels, H, W} after the window has moved over {…, H, W}. Throws std::invalid_argument for
  /// an input that is no image.
  [[nodiscard]] Shape output(std::int64_t channels, const Shape& image) const;
};

}  // namespace parbench
