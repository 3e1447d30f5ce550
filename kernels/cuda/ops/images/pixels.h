// The pixels of images, which kernels treat as the rows of a matrix.
#pragma once

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Returns the number of pixels of a batch {batch, channels, height, width}.
inline std::int64_t pixels_of(const Shape& image) { return image[0] * image[2] * image[3]; }

}  // namespace parbench::cuda
