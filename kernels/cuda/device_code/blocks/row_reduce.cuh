// Sums and maxima over the threads of a warp or a block, returned to all of them, in an order that
// depends only on the number of threads. For .cu files only.
#pragma once

#include "kernels/cuda/runtime/launch.h"

namespace parbench::cuda {

struct SumOf {
  template <class Value>
  __device__ Value operator()(Value a, Value b) const {
    return a + b;
  }
};

struct MaxOf {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

/// Combines the values of a warp's threads, which must all call it.
template <class Value, class Combine>
__device__ inline Value combined_in_warp(Value value, const Combine& combine) {
  for (unsigned int bit = 16; bit > 0; bit /= 2) {
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, bit));
  }
  return value;
}

/// Combines the values of the threads of a block of `block_threads`, which must all call it.
template <class Value, class Combine>
__device__ inline Value combined_in_block(Value value, const Combine& combine) {
  constexpr unsigned int warps = block_threads / 32;
  __shared__ Value of_warps[warps];
  value = combined_in_warp(value, combine);
  __syncthreads();  // all threads have read the values of an earlier call
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[0];
  for (unsigned int warp = 1; warp < warps; ++warp) value = combine(value, of_warps[warp]);
  return value;
}

}  // namespace parbench::cuda
