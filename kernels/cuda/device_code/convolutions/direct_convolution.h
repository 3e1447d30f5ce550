// Convolutions by their definition, for what no engine of cuDNN takes: any type, channels, groups
// and strides. Right before fast.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "kernels/cuda/ops/convolution_pass.h"
#include "kernels/ops/ops.h"

namespace parbench::cuda {

/// Enqueues one pass. `tensors` are in the order of the operation's arguments without a bias, with
/// the channels innermost: activations N, H, W, C, weights O, KH, KW, I/groups. All are `dtype`,
/// but the gradient of weights is f32. Products and sums are f32; results are the same to the bit
/// at every run.
void convolve_directly(ConvolutionPass pass, const ConvolutionShape& shape, DType dtype,
                       std::span<std::byte* const> tensors, cudaStream_t stream);

}  // namespace parbench::cuda
