// Detection of the last of several blocks, which can then combine their results. For .cu files
// only.
#pragma once

#include <cuda_runtime_api.h>

namespace parbench::cuda {

/// Returns whether the calling block is the last of `count` blocks that call this function with a
/// counter, which begins at zero and is reset to zero by the last block. The last block sees
/// everything that the other blocks wrote before. Every thread of the block must call it. No block
/// waits for another.
__device__ inline bool arrives_last(unsigned int* counter, int count) {
  __shared__ bool last;
  __syncthreads();
  if (count == 1) return true;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    const auto end = static_cast<unsigned int>(count) - 1;
    __threadfence();
    last = atomicInc(counter, end) == end;
    __threadfence();
  }
  __syncthreads();
  return last;
}

}  // namespace parbench::cuda
