// Rows are copied in 16-byte words if sizes and addresses allow it. The gradient of each row of the
// table is computed by the blocks of the first position with its index, so that no other block
// writes it, and is added in the order of the positions.
#include "kernels/cuda/device_code/layers/embedding_kernels.h"

#include "kernels/cuda/device_code/fill_kernels.h"
#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

/// `words`: words per row.
template <class Word>
__global__ void __launch_bounds__(block_threads)
    gather_rows_kernel(const std::int32_t* indices, const Word* table, Word* destination,
                       std::int64_t count, std::int64_t words) {
  for (std::int64_t i = grid_thread(); i < count * words; i += grid_threads()) {
    const std::int64_t row = indices[i / words];
    destination[i] = table[row * words + i % words];
  }
}

template <class Word>
void gather_words(const EmbeddingIndices& indices, const void* table, void* destination,
                  std::int64_t words, cudaStream_t stream) {
  PARBENCH_LAUNCH(blocks_for(indices.count * words), block_threads, stream,
                  gather_rows_kernel<Word>, indices.at, static_cast<const Word*>(table),
                  static_cast<Word*>(destination), indices.count, words);
}

bool on_words_of(std::size_t bytes, const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

constexpr unsigned int warps_of_block = block_threads / 32;

/// Marks which of the block's positions, one per thread from `first` on, have this index. `marks`
/// has a bit for each thread.
__device__ inline void mark_positions(const std::int32_t* indices, std::int64_t first,
                                      std::int64_t count, std::int32_t index, unsigned int* marks) {
  const std::int64_t position = first + threadIdx.x;
  const bool equal = position < count && indices[position] == index;
  const unsigned int warp_marks = __ballot_sync(0xFFFFFFFFU, equal);
  __syncthreads();  // all threads have read the previous marks
  if (threadIdx.x % 32 == 0) marks[threadIdx.x / 32] = warp_marks;
  __syncthreads();
}

/// Block (x, y) computes the y-th columns of the sum for the index at position x; it stops if an
/// earlier position has the same index.
template <class Element>
__global__ void __launch_bounds__(block_threads)
    add_rows_kernel(const std::int32_t* indices, const Element* gradients, float* table,
                    std::int64_t count, std::int64_t width, bool accumulate) {
  __shared__ unsigned int marks[warps_of_block];
  const std::int64_t mine = blockIdx.x;
  const std::int32_t index = indices[mine];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * block_threads + threadIdx.x;
  float* element = table + index * width + column;
  float sum = 0;
  if (accumulate && column < width) sum = *element;
  for (std::int64_t first = 0; first < count; first += block_threads) {
    mark_positions(indices, first, count, index, marks);
    for (unsigned int warp = 0; warp < warps_of_block; ++warp) {
      unsigned int rest = marks[warp];
      while (rest != 0) {
        const std::int64_t position = first + warp * 32 + (__ffs(static_cast<int>(rest)) - 1);
        if (position < mine) return;  // the same for every thread of the block
        if (column < width) sum += widened(gradients[position * width + column]);
        rest &= rest - 1;
      }
    }
  }
  if (column < width) *element = sum;
}

}  // namespace

void gather_rows(const EmbeddingIndices& indices, const void* table, void* destination, DType dtype,
                 cudaStream_t stream) {
  const std::int64_t bytes = indices.width * (dtype == DType::bf16 ? 2 : 4);
  constexpr std::int64_t wide = sizeof(uint4);
  if (bytes % wide == 0 && on_words_of(wide, table) && on_words_of(wide, destination)) {
    gather_words<uint4>(indices, table, destination, bytes / wide, stream);
  } else if (dtype == DType::bf16) {
    gather_words<std::uint16_t>(indices, table, destination, indices.width, stream);
  } else {
    gather_words<float>(indices, table, destination, indices.width, stream);
  }
}

void add_rows(const EmbeddingIndices& indices, const void* gradients, DType dtype, float* table,
              bool accumulate, cudaStream_t stream) {
  if (!accumulate) {
    fill_constant(table, DType::f32, indices.vocabulary * indices.width, 0, stream);
  }
  const dim3 grid(static_cast<unsigned int>(indices.count),
                  static_cast<unsigned int>((indices.width + block_threads - 1) / block_threads));
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    PARBENCH_LAUNCH(grid, block_threads, stream, add_rows_kernel<Element>, indices.at,
                    static_cast<const Element*>(gradients), table, indices.count, indices.width,
                    accumulate);
  });
}

}  // namespace parbench::cuda
