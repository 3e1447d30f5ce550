// Copies the patches of an activation, which a convolution's outputs read, to the rows of a matrix.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/ops/ops.h"

namespace parbench::cuda {

/// Selects patches: the channels of one group, of `images` consecutive images.
struct Patches {
  ConvolutionShape shape;
  DType dtype = DType::f32;
  std::int64_t group = 0;
  std::int64_t images = 0;
  std::int64_t row_length = 0;  // elements; at least kernel · kernel · channels of a group
};

/// rows[pixel][(ky · kernel + kx) · channels + channel] = the source's element that the tap (ky,
/// kx) of that output pixel reads, 0 in the padding. `source` points to the first of the images,
/// with channels last and all groups in a pixel. The rest of each row is unchanged. Kernels are
/// fastest if addresses, rows and the channels of a group are multiples of 16 bytes.
void copy_patches(void* rows, const void* source, const Patches& patches, cudaStream_t stream);

}  // namespace parbench::cuda
