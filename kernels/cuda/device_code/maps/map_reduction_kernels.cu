// Programs with a reduction, which is computed in double in an order that depends only on the
// loops.
#include "kernels/cuda/device_code/blocks/row_reduce.cuh"
#include "kernels/cuda/device_code/maps/map_program.cuh"
#include "kernels/cuda/device_code/maps/map_program_kernels.h"

namespace parbench::cuda {
namespace {

struct CombinedBy {
  Reduction reduction;

  __device__ double operator()(double a, double b) const {
    switch (reduction) {
      case Reduction::maximum:
        return greatest(a, b);
      case Reduction::minimum:
        return least(a, b);
      case Reduction::product:
        return a * b;
      default:
        return a + b;
    }
  }
  /// Returns the result of reducing no elements.
  [[nodiscard]] __device__ double neutral() const {
    switch (reduction) {
      case Reduction::maximum:
        return -static_cast<double>(INFINITY);
      case Reduction::minimum:
        return static_cast<double>(INFINITY);
      case Reduction::product:
        return 1;
      default:
        return 0;
    }
  }
};

/// Returns the reduction of every `stride`-th element in [first, last).
template <class Index>
__device__ double reduced_range(const DeviceMap& map, MapIndices<Index>& indices,
                                std::int64_t first, std::int64_t last, std::int64_t stride) {
  const CombinedBy combined{map.reduction};
  double total = combined.neutral();
  MapRegisters<1> registers;
  for (std::int64_t i = first; i < last; i += stride) {
    indices.set(map, map.kept, map.reduced, static_cast<Index>(i));
    total = combined(total, static_cast<double>(*run_program(map, indices, registers)));
  }
  return total;
}

template <class Index>
__device__ void store_total(const DeviceMap& map, const MapIndices<Index>& indices, double total) {
  const DeviceOperand& output = map.operand[map.operands - 1];
  const std::int64_t position = position_of(output, map.kept, indices);
  float value = static_cast<float>(total);
  if (map.accumulate) {
    float old = 0;
    load_operand<1>(output, position, &old);
    value += old;
  }
  store_operand<1>(output, position, &value);
}

/// Item i is a chunk of result i % kept_count; chunks of a result are kept_count apart. A thread,
/// or a block of threads, processes one item at a time. With large indices compiled for four blocks
/// per multiprocessor: by default (0) nvcc compiles for six, and spills registers.
template <bool by_blocks, class Index>
__global__ void __launch_bounds__(block_threads, sizeof(Index) > 4 ? 4 : 0)
    reduce_map_kernel(DeviceMap map, std::int64_t chunks, double* partials) {
  const std::int64_t items = map.kept_count * chunks;
  const std::int64_t workers = by_blocks ? gridDim.x : grid_threads();
  const unsigned int member = by_blocks ? threadIdx.x : 0;
  for (std::int64_t item = by_blocks ? blockIdx.x : grid_thread(); item < items; item += workers) {
    const std::int64_t chunk = item / map.kept_count;
    const std::int64_t begin = chunk * map.reduced_count / chunks;
    const std::int64_t end = (chunk + 1) * map.reduced_count / chunks;
    MapIndices<Index> indices;
    indices.set(map, 0, map.kept, static_cast<Index>(item % map.kept_count));
    double total = reduced_range(map, indices, begin + member, end, by_blocks ? blockDim.x : 1);
    if (by_blocks) total = combined_in_block(total, CombinedBy{map.reduction});
    if (member != 0) continue;
    if (chunks > 1) {
      partials[item] = total;
    } else {
      store_total(map, indices, total);
    }
  }
}

/// Combines the chunks of each result.
__global__ void __launch_bounds__(block_threads)
    combine_chunks_kernel(DeviceMap map, std::int64_t chunks, const double* partials) {
  const CombinedBy combined{map.reduction};
  for (std::int64_t i = grid_thread(); i < map.kept_count; i += grid_threads()) {
    double total = partials[i];
    for (std::int64_t chunk = 1; chunk < chunks; ++chunk) {
      total = combined(total, partials[chunk * map.kept_count + i]);
    }
    MapIndices<std::int64_t> indices;
    indices.set(map, 0, map.kept, i);
    store_total(map, indices, total);
  }
}

template <bool by_blocks, class Index>
void launch_reduction(const DeviceMap& map, std::int64_t chunks, double* partials,
                      cudaStream_t stream) {
  const std::int64_t items = map.kept_count * chunks;
  const unsigned int blocks = blocks_for(by_blocks ? items * block_threads : items);
  PARBENCH_LAUNCH(blocks, block_threads, stream, reduce_map_kernel<by_blocks, Index>, map, chunks,
                  partials);
}

template <class Index>
void launch_reduction_of(const DeviceMap& map, const MapReductionShape& shape, double* partials,
                         cudaStream_t stream) {
  if (shape.is_by_blocks) return launch_reduction<true, Index>(map, shape.chunks, partials, stream);
  launch_reduction<false, Index>(map, shape.chunks, partials, stream);
}

}  // namespace

MapReductionShape map_reduction_shape(const MapLoops& loops) {
  constexpr std::int64_t enough_blocks = 132 * 8;  // 8 for each multiprocessor of an H100
  constexpr std::int64_t min_of_block = std::int64_t{block_threads} * 8;
  constexpr std::int64_t min_of_thread = 64;
  const std::int64_t kept = loops.elements(false);
  const std::int64_t reduced = loops.elements(true);
  const bool is_by_blocks =
      loops.loops[0].is_reduced ? reduced >= min_of_thread : kept < 32 && reduced >= min_of_block;
  const std::int64_t wanted = is_by_blocks ? enough_blocks : enough_blocks * block_threads;
  const std::int64_t min_elements = is_by_blocks ? min_of_block : min_of_thread;
  return {is_by_blocks, std::max<std::int64_t>(1, std::min(wanted / kept, reduced / min_elements))};
}

void reduce_map(const DeviceMap& map, const MapReductionShape& shape, double* partials,
                cudaStream_t stream) {
  if (std::max(map.kept_count, map.reduced_count) < small_index_end) {
    launch_reduction_of<std::int32_t>(map, shape, partials, stream);
  } else {
    launch_reduction_of<std::int64_t>(map, shape, partials, stream);
  }
  if (shape.chunks == 1) return;
  PARBENCH_LAUNCH(blocks_for(map.kept_count), block_threads, stream, combine_chunks_kernel, map,
                  shape.chunks, static_cast<const double*>(partials));
}

}  // namespace parbench::cuda
