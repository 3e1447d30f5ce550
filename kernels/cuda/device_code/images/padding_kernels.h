// Zeros around images whose channels lie innermost (NHWC), and parts of such images. Pointers need
// the alignment of an element; the kernel is fastest when they are multiples of 16 bytes and so are
// the bytes of all channels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// An image {batch, height, width, channels} and where the destination has its first pixel: at
/// (top, left), which may be negative.
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

/// destination[n][y][x] = source[n][y − top][x − left], zero where the source has no such pixel.
void pad_image(void* destination, const void* source, DType dtype, const Padding& padding,
               cudaStream_t stream);

}  // namespace parbench::cuda
