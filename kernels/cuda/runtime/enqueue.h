// Launches kernels; no other code does. For .cu files only. Tests that run kernels on the host
// replace this header (tests/cuda_emulation).
#pragma once

#include <cuda_runtime_api.h>

namespace parbench::cuda {

/// A single number is a grid or block of one dimension.
template <class... Parameters, class... Arguments>
void enqueue(dim3 grid, dim3 block, cudaStream_t stream, void (*kernel)(Parameters...),
             Arguments... arguments) {
  kernel<<<grid, block, 0, stream>>>(arguments...);
}

}  // namespace parbench::cuda
