// Dropout with the numbers of kernels/base/random.h. Pointers need the alignment of an element;
// kernels are fastest when all are multiples of 16 bytes and `first` is a multiple of 4.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/random.h"
#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Selects the elements that are kept, and their factor.
struct DropoutRule {
  RandomStream random;
  std::int64_t first;  // index of the first element's random number
  float probability;
  float factor;  // factor of kept elements
};

/// out[i] = factor · in[i] if the uniform number at first + i is at least the probability,
/// otherwise 0. `out` may be `in`.
void dropout(void* out, const void* in, const DropoutRule& rule, DType dtype, std::int64_t count,
             cudaStream_t stream);

/// An image {batch, channels, pixels} with channels last.
struct ImageExtents {
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t pixels;
};

/// Like `dropout`, but for images: an element's random number is that at first + its index in
/// canonical order (NCHW).
void dropout_image(void* out, const void* in, const DropoutRule& rule, DType dtype,
                   const ImageExtents& image, cudaStream_t stream);

}  // namespace parbench::cuda
