// How the last of several blocks finds out that it is, so that it goes on with what all have left.
// For .cu files only.
#pragma once

#include <cuda_runtime_api.h>

namespace parbench::cuda {

/// Whether the calling block is the last of `count` to arrive at a counter, which begins at zero
/// and is zero again behind the last one. What the blocks wrote before is visible to the last one.
/// Every thread of the block calls it. No block waits for another.
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
