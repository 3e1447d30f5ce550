// The function through which all kernels of this project are launched. For .cu files only. Tests
// that run kernels on the host replace this header (tests/cuda_emulation).
#pragma once

#include <cuda_runtime_api.h>

namespace parbench::cuda {

/// Launches a kernel. A single number as `grid` or `block` means one dimension.
template <class... Parameters, class... Arguments>
void enqueue(dim3 grid, dim3 block, cudaStream_t stream, void (*kernel)(Parameters...),
             Arguments... arguments) {
  kernel<<<grid, block, 0, stream>>>(arguments...);
}

}  // namespace parbench::cuda
