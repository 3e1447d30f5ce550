// Padding and cropping of images with channels last (NHWC). Pointers need the alignment of an
// element; the kernel is fastest if pointers, and the bytes of all channels, are multiples of 16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// An image {batch, height, width, channels} and the position of its first pixel in the
/// destination: (top, left), which may be negative.
struct Padding {
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
  std::int64_t out_height;
  std::int64_t out_width;
  std::int64_t top;
  std::int64_t left;
};

/// destination[n][y][x] = source[n][y − top][x − left], zero if the source has no such pixel.
void pad_image(void* destination, const void* source, DType dtype, const Padding& padding,
               cudaStream_t stream);

}  // namespace parbench::cuda
