// Takes the place of kernels/cuda/runtime/enqueue.h: runs a kernel at once, on the host.
#pragma once

#include <cuda_runtime_api.h>

namespace parbench::cuda {

template <class... Parameters, class... Arguments>
void enqueue(dim3 grid, dim3 block, cudaStream_t /*stream*/, void (*kernel)(Parameters...),
             Arguments... arguments) {
  emulation::run_grid(grid, block, [&] { kernel(arguments...); });
}

}  // namespace parbench::cuda
