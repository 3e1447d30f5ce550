// The pixels of images, which kernels take for the rows of a matrix.
#pragma once

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// The pixels of all images of a batch {batch, channels, height, width}.
inline std::int64_t pixels_of(const Shape& image) { return image[0] * image[2] * image[3]; }

}  // namespace parbench::cuda
