// Sums over the threads of a block or warp, in a fixed order. For .cu files only.
#pragma once

#include "kernels/cuda/runtime/launch.h"

namespace parbench::cuda {

inline constexpr int warp_threads = 32;

/// Returns the sum over a warp, in every thread.
template <class Value>
__device__ inline Value warp_sum(Value value) {
  for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFU, value, distance);
  }
  return value;
}

/// Returns the sum over a block of `block_threads` threads in thread 0, an unspecified value in the
/// others. A kernel needs a barrier between two calls.
__device__ inline double block_sum(double value) {
  __shared__ double warp_sums[block_threads / warp_threads];
  value = warp_sum(value);
  if (threadIdx.x % warp_threads == 0) warp_sums[threadIdx.x / warp_threads] = value;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x == 0) {
    for (const double one : warp_sums) sum += one;
  }
  return sum;
}

}  // namespace parbench::cuda
