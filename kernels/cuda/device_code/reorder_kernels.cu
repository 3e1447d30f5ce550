// Conversion of element types, and transposition of tiles in shared memory.
#include "kernels/cuda/device_code/map.cuh"
#include "kernels/cuda/device_code/reorder_kernels.h"

namespace parbench::cuda {
namespace {

constexpr int tile = 32;
constexpr int tile_rows = 8;  // rows of a tile processed at once, by tile · tile_rows threads
static_assert(tile * tile_rows == block_threads);

/// Minimum numbers of rows and columns for tiles. With fewer, more than half of each tile would be
/// outside of the matrix.
constexpr std::int64_t min_tiled = 16;

struct Identity {
  __device__ float operator()(float value) const { return value; }
};

template <class Out, class In>
__device__ Out converted(In value) {
  if constexpr (std::is_same_v<Out, In>) {
    return value;
  } else {
    return narrowed<Out>(widened(value));
  }
}

/// A block processes one tile at a time, reading along rows and writing along columns.
template <class Out, class In>
__global__ void __launch_bounds__(block_threads)
    transpose_tiles_kernel(Out* out, const In* in, std::int64_t batch, std::int64_t rows,
                           std::int64_t columns) {
  // padded by one, so that the elements of a column are in different banks
  __shared__ Out held[tile][tile + 1];
  const std::int64_t across = (columns + tile - 1) / tile;
  const std::int64_t down = (rows + tile - 1) / tile;
  for (std::int64_t i = blockIdx.x; i < batch * down * across; i += gridDim.x) {
    const std::int64_t first_column = i % across * tile;
    const std::int64_t first_row = i / across % down * tile;
    const std::int64_t matrix = i / (across * down) * rows * columns;
    for (int y = threadIdx.y; y < tile; y += tile_rows) {
      const std::int64_t row = first_row + y;
      const std::int64_t column = first_column + threadIdx.x;
      if (row < rows && column < columns) {
        held[y][threadIdx.x] = converted<Out>(in[matrix + row * columns + column]);
      }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < tile; y += tile_rows) {
      const std::int64_t column = first_column + y;
      const std::int64_t row = first_row + threadIdx.x;
      if (row < rows && column < columns) {
        out[matrix + column * rows + row] = held[threadIdx.x][y];
      }
    }
    __syncthreads();  // the next tile overwrites `held`
  }
}

/// For matrices with few rows or columns: writes are contiguous; reads share cache lines with
/// neighbouring threads.
template <class Index, class Out, class In>
__global__ void __launch_bounds__(block_threads)
    transpose_narrow_kernel(Out* out, const In* in, Index count, Index rows, Index columns) {
  const auto stride = static_cast<Index>(grid_threads());
  for (auto i = static_cast<Index>(grid_thread()); i < count; i += stride) {
    const Index row = i % rows;
    const Index column = i / rows % columns;
    const Index matrix = i / rows / columns;
    out[i] = converted<Out>(in[(matrix * rows + row) * columns + column]);
  }
}

template <class Out, class In>
void transpose_typed(Out* out, const In* in, std::int64_t batch, std::int64_t rows,
                     std::int64_t columns, cudaStream_t stream) {
  const std::int64_t count = batch * rows * columns;
  const unsigned int blocks = blocks_for(count);
  if (std::min(rows, columns) >= min_tiled) {
    const std::int64_t tiles = batch * ((rows + tile - 1) / tile) * ((columns + tile - 1) / tile);
    const dim3 block(tile, tile_rows);
    PARBENCH_LAUNCH(blocks_for(tiles * block_threads), block, stream,
                    transpose_tiles_kernel<Out, In>, out, in, batch, rows, columns);
  } else if (count < small_index_end) {
    PARBENCH_LAUNCH(blocks, block_threads, stream, transpose_narrow_kernel<std::int32_t, Out, In>,
                    out, in, static_cast<std::int32_t>(count), static_cast<std::int32_t>(rows),
                    static_cast<std::int32_t>(columns));
  } else {
    PARBENCH_LAUNCH(blocks, block_threads, stream, transpose_narrow_kernel<std::int64_t, Out, In>,
                    out, in, count, rows, columns);
  }
}

/// Calls `function` with pointers of the element types.
template <class Function>
void with_elements(ElementsOut out, ElementsIn in, const Function& function) {
  with_element(out.dtype, [&](auto to) {
    with_element(in.dtype, [&](auto from) {
      function(static_cast<decltype(to)*>(out.data), static_cast<const decltype(from)*>(in.data));
    });
  });
}

}  // namespace

void convert(ElementsOut out, ElementsIn in, std::int64_t count, cudaStream_t stream) {
  if (out.dtype == in.dtype) {
    const std::size_t bytes = static_cast<std::size_t>(count) * (in.dtype == DType::bf16 ? 2 : 4);
    PARBENCH_CUDA(cudaMemcpyAsync(out.data, in.data, bytes, cudaMemcpyDefault, stream));
    return;
  }
  with_elements(out, in,
                [&](auto* to, const auto* from) { map(stream, count, Identity{}, to, from); });
}

void transpose(ElementsOut out, ElementsIn in, std::int64_t batch, std::int64_t rows,
               std::int64_t columns, cudaStream_t stream) {
  with_elements(out, in, [&](auto* to, const auto* from) {
    transpose_typed(to, from, batch, rows, columns, stream);
  });
}

}  // namespace parbench::cuda
