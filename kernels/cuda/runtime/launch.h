// Block sizes and checked launches of this project's kernels. For .cu files only.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/runtime/enqueue.h"
#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {

constexpr int block_threads = 256;

/// Returns the number of blocks for kernels whose threads stride over `count` elements: a thread
/// for each element, but at most 16 blocks for each of the 132 multiprocessors of an H100.
[[nodiscard]] inline unsigned int blocks_for(std::int64_t count) {
  constexpr std::int64_t max_blocks = 132 * 16;
  return static_cast<unsigned int>(
      std::clamp<std::int64_t>((count + block_threads - 1) / block_threads, 1, max_blocks));
}

}  // namespace parbench::cuda

/// PARBENCH_LAUNCH(grid, block, stream, kernel, arguments…) launches a kernel, whose template
/// arguments must be written explicitly. Throws if the launch fails.
#define PARBENCH_LAUNCH(grid, block, stream, ...)                                               \
  do {                                                                                          \
    ::parbench::cuda::enqueue((grid), (block), (stream), __VA_ARGS__);                          \
    ::parbench::cuda::check(cudaGetLastError(), {"launch: " #__VA_ARGS__, __FILE__, __LINE__}); \
  } while (false)
