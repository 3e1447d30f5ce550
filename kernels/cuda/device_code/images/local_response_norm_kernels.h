// Local response normalisation of images with channels last (NHWC), in f32 whatever the element
// type. Pointers need the alignment of an element.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

struct ResponseNorm {
  std::int64_t rows;  // pixels of all images
  std::int64_t channels;
  std::int64_t reach;  // channels of the window on each side of its centre
  float scale;         // alpha / size
  float beta;
  float offset;
};

/// bases = offset + scale · Σ source² over the window; destination = source · bases^−beta.
void normalise_responses(void* destination, float* bases, const void* source, DType dtype,
                         const ResponseNorm& norm, cudaStream_t stream);

/// diff_source = diff_destination · bases^−beta − 2 · scale · beta · source · Σ over the window of
/// diff_destination · source · bases^(−beta − 1).
void normalise_responses_backward(void* diff_source, const void* diff_destination,
                                  const void* source, const float* bases, DType dtype,
                                  const ResponseNorm& norm, cudaStream_t stream);

}  // namespace parbench::cuda
