// Kernels of layer normalisation over the rows of a matrix. Pointers need the alignment of an
// element; kernels are fastest when all are multiples of 32 bytes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"
#include "kernels/cuda/device_code/batch_norm/batch_norm_kernels.h"

namespace parbench::cuda {

/// Pointers of a forward pass; `source` and `destination`, which may be the same, are of type
/// `dtype`.
struct LayerNormPass {
  const void* source;
  const float* scale;
  const float* shift;
  void* destination;
  float* mean;
  float* variance;
  DType dtype;
};

/// Normalises the rows, with one warp per row. The shape's channels are the columns.
void layer_norm_forward(const NormShape& shape, const LayerNormPass& at, float epsilon,
                        cudaStream_t stream);

/// Pointers of a backward pass; `diff_source` may be `diff_destination`.
struct LayerNormGradient {
  const void* source;
  const void* diff_destination;
  const float* mean;
  const float* variance;
  const float* scale;
  void* diff_source;
  float* diff_scale;
  float* diff_shift;
  DType dtype;
};

/// Computes the gradients: diff_scale and diff_shift in one launch, summed as in batch
/// normalisation (the scratch memory needs no coefficients), and diff_source in another. With
/// `accumulate`, the sums are added to diff_scale and diff_shift.
void layer_norm_backward(const NormShape& shape, const LayerNormGradient& at, float epsilon,
                         bool accumulate, const NormScratch& scratch, cudaStream_t stream);

}  // namespace parbench::cuda
