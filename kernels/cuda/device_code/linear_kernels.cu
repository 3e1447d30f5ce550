// Bias and its gradient: a repeated row, and sums of columns.
#include "kernels/cuda/device_code/linear_kernels.h"

#include <algorithm>

#include "kernels/cuda/device_code/vector.cuh"
#include "kernels/cuda/runtime/launch.h"

namespace parbench::cuda {
namespace {

template <class Element>
__global__ void repeat_row_kernel(const float* __restrict__ row, std::int64_t count,
                                  std::int64_t columns, Element* __restrict__ matrix) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < count; i += stride) narrow(row[i % columns], matrix[i]);
}

template <class Element>
void repeat(const float* row, std::int64_t rows, std::int64_t columns, Element* matrix,
            cudaStream_t stream) {
  const std::int64_t count = rows * columns;
  PARBENCH_LAUNCH(blocks_for(count), block_threads, stream, repeat_row_kernel<Element>, row, count,
                  columns, matrix);
}

// `out` may be `matrix`: the thread that writes an element also reads it.
template <class Element, class Row>
__global__ void add_row_kernel(const Element* matrix, const Row* __restrict__ row,
                               std::int64_t count, std::int64_t columns, Element* out) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    narrow(widened(matrix[i]) + widened(row[i % columns]), out[i]);
  }
}

template <class Element, class Row>
void add_to_rows(const Element* matrix, const Row* row, std::int64_t rows, std::int64_t columns,
                 Element* out, cudaStream_t stream) {
  const std::int64_t count = rows * columns;
  PARBENCH_LAUNCH(blocks_for(count), block_threads, stream, add_row_kernel<Element, Row>, matrix,
                  row, count, columns, out);
}

constexpr int tile_columns = 32;  // number of adjacent columns of a block
constexpr int sum_tile_rows = block_threads / tile_columns;

// Block (x, y) adds the rows of slice y for the x-th tile of columns: sums[y][column].
template <class Element>
__global__ void sum_columns_kernel(const Element* __restrict__ matrix, std::int64_t rows,
                                   std::int64_t columns, bool accumulate,
                                   float* __restrict__ sums) {
  __shared__ float tile[sum_tile_rows][tile_columns];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * tile_columns + threadIdx.x;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * sum_tile_rows;
  float sum = 0;
  if (column < columns) {
    std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * sum_tile_rows + threadIdx.y;
#pragma unroll 4
    for (; row < rows; row += stride) sum += widened(matrix[row * columns + column]);
  }
  tile[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int i = 1; i < sum_tile_rows; ++i) sum += tile[i][threadIdx.x];
  float& out = sums[blockIdx.y * columns + column];
  out = accumulate ? out + sum : sum;
}

/// Returns the number of slices into which rows are divided. Slices have separate sums, so that
/// tall matrices occupy the whole device.
std::int64_t slices_of(std::int64_t rows) {
  constexpr std::int64_t rows_of_slice = 512;
  constexpr std::int64_t max_slices = 128;
  return std::clamp<std::int64_t>(rows / rows_of_slice, 1, max_slices);
}

template <class Element>
void sum_slices(const Element* matrix, std::int64_t rows, std::int64_t columns, std::int64_t slices,
                bool accumulate, float* sums, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned int>((columns + tile_columns - 1) / tile_columns),
                  static_cast<unsigned int>(slices));
  PARBENCH_LAUNCH(grid, dim3(tile_columns, sum_tile_rows), stream, sum_columns_kernel<Element>,
                  matrix, rows, columns, accumulate, sums);
}

template <class Element>
void sum(const Element* matrix, std::int64_t rows, std::int64_t columns, bool accumulate,
         float* partials, float* sums, cudaStream_t stream) {
  const std::int64_t slices = slices_of(rows);
  if (slices == 1) {
    sum_slices(matrix, rows, columns, 1, accumulate, sums, stream);
  } else {
    sum_slices(matrix, rows, columns, slices, false, partials, stream);
    sum_slices(partials, slices, columns, 1, accumulate, sums, stream);
  }
}

}  // namespace

void repeat_row(const float* row, std::int64_t rows, std::int64_t columns, float* matrix,
                cudaStream_t stream) {
  repeat(row, rows, columns, matrix, stream);
}

void repeat_row(const float* row, std::int64_t rows, std::int64_t columns, std::uint16_t* matrix,
                cudaStream_t stream) {
  repeat(row, rows, columns, matrix, stream);
}

void add_row(const float* matrix, const float* row, std::int64_t rows, std::int64_t columns,
             float* out, cudaStream_t stream) {
  add_to_rows(matrix, row, rows, columns, out, stream);
}

void add_row(const std::uint16_t* matrix, const std::uint16_t* row, std::int64_t rows,
             std::int64_t columns, std::uint16_t* out, cudaStream_t stream) {
  add_to_rows(matrix, row, rows, columns, out, stream);
}

void add_row(const std::uint16_t* matrix, const float* row, std::int64_t rows, std::int64_t columns,
             std::uint16_t* out, cudaStream_t stream) {
  add_to_rows(matrix, row, rows, columns, out, stream);
}

std::size_t column_sum_partials(std::int64_t rows, std::int64_t columns) {
  const std::int64_t slices = slices_of(rows);
  return slices == 1 ? 0 : static_cast<std::size_t>(slices * columns);
}

void sum_columns(const float* matrix, std::int64_t rows, std::int64_t columns, bool accumulate,
                 float* partials, float* sums, cudaStream_t stream) {
  sum(matrix, rows, columns, accumulate, partials, sums, stream);
}

void sum_columns(const std::uint16_t* matrix, std::int64_t rows, std::int64_t columns,
                 bool accumulate, float* partials, float* sums, cudaStream_t stream) {
  sum(matrix, rows, columns, accumulate, partials, sums, stream);
}

}  // namespace parbench::cuda
