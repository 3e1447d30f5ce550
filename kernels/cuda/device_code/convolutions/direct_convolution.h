// Convolutions by definition, for descriptions without an engine of cuDNN: any type, channels,
// groups and strides. Correct but slow.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "kernels/cuda/ops/convolution_pass.h"
#include "kernels/ops/ops.h"

namespace parbench::cuda {

/// Enqueues one pass. `tensors` are in the order of the operation's arguments without a bias, with
/// channels last: activations N, H, W, C, weights O, KH, KW, I/groups. All are `dtype`, except the
/// gradient of weights, which is f32. Products and sums are f32; results are bitwise equal at every
/// run.
void convolve_directly(ConvolutionPass pass, const ConvolutionShape& shape, DType dtype,
                       std::span<std::byte* const> tensors, cudaStream_t stream);

}  // namespace parbench::cuda
