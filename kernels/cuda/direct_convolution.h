// Convolutions in f32 by their definition, for the shapes that no engine of cuDNN takes: any
// channels, groups, strides. Right before fast.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/ops.h"

namespace parbench::cuda {

// All tensors are f32 on the device with the channels innermost: activations N, H, W, C, weights
// O, KH, KW, I/groups. Results are the same to the bit at every run.
void convolve(float* destination, const float* source, const float* weights,
              const ConvolutionShape& shape, cudaStream_t stream);
void convolve_backward_data(float* diff_source, const float* diff_destination, const float* weights,
                            const ConvolutionShape& shape, cudaStream_t stream);
void convolve_backward_weights(float* diff_weights, const float* source,
                               const float* diff_destination, const ConvolutionShape& shape,
                               cudaStream_t stream);

}  // namespace parbench::cuda
