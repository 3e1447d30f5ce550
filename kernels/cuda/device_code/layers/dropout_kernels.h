// Dropout by the numbers of kernels/base/random.h. Pointers need the alignment of an element;
// kernels are fastest when all are multiples of 16 bytes and `first` is a multiple of 4.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/random.h"
#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Which elements stay, and what becomes of them.
struct DropoutRule {
  RandomStream random;
  std::int64_t first;  // the index of the first element's number
  float probability;
  float factor;  // of the elements that stay
};

/// out[i] = factor · in[i] where the uniform number at first + i is at least the probability, else
/// 0. `out` may be `in`.
void dropout(void* out, const void* in, const DropoutRule& rule, DType dtype, std::int64_t count,
             cudaStream_t stream);

/// An image {batch, channels, pixels} whose channels lie innermost.
struct ImageExtents {
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t pixels;
};

/// The same of an image; the index of an element's number is its place in canonical order.
void dropout_image(void* out, const void* in, const DropoutRule& rule, DType dtype,
                   const ImageExtents& image, cudaStream_t stream);

}  // namespace parbench::cuda
