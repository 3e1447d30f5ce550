// The one place that launches kernels. For .cu files only. The tests that run kernels on the host
// have a header of this name instead (tests/cuda_emulation).
#pragma once

#include <cuda_runtime_api.h>

namespace parbench::cuda {

/// A number stands for a grid or block of one dimension.
template <class... Parameters, class... Arguments>
void enqueue(dim3 grid, dim3 block, cudaStream_t stream, void (*kernel)(Parameters...),
             Arguments... arguments) {
  kernel<<<grid, block, 0, stream>>>(arguments...);
}

}  // namespace parbench::cuda
