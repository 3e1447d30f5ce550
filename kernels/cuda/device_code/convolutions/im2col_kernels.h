// The patches of an activation that a convolution's outputs see, as the rows of a matrix.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/ops/ops.h"

namespace parbench::cuda {

/// Which patches: of one group's channels, of `images` consecutive images.
struct Patches {
  ConvolutionShape shape;
  DType dtype = DType::f32;
  std::int64_t group = 0;
  std::int64_t images = 0;
  std::int64_t row_length = 0;  // elements; at least kernel · kernel · channels of a group
};

/// rows[pixel][(ky · kernel + kx) · channels + channel] is the source's element that the tap (ky,
/// kx) of that output pixel reads, 0 where it reads the padding. `source` is that of the first of
/// the images, with the channels innermost and all groups in a pixel. What is left of a row keeps
/// its content. Kernels are fastest where addresses, rows and the channels of a group are multiples
/// of 16 bytes.
void copy_patches(void* rows, const void* source, const Patches& patches, cudaStream_t stream);

}  // namespace parbench::cuda
