// Copies use 16-byte words if sizes and addresses allow it; softmaxes use a warp per row.
#include "kernels/cuda/device_code/layers/attention_kernels.h"

#include <cfloat>

#include "kernels/cuda/device_code/blocks/row_reduce.cuh"
#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

constexpr unsigned int lanes = 32;

/// Returns the index in the tensor of the i-th word of {parts, batch, heads, sequence, words}.
__device__ inline std::int64_t index_in_tensor(const HeadVectors& at, std::int64_t words,
                                               std::int64_t i) {
  const std::int64_t word = i % words;
  const std::int64_t vector = i / words;
  const std::int64_t position = vector % at.sequence;
  const std::int64_t head = vector / at.sequence % at.heads;
  const std::int64_t matrix = vector / (at.sequence * at.heads);
  const std::int64_t sample = matrix % at.batch;
  const std::int64_t part = matrix / at.batch;
  return (((sample * at.sequence + position) * at.parts + part) * at.heads + head) * words + word;
}

template <bool gathers, class Word>
__global__ void __launch_bounds__(block_threads)
    move_heads_kernel(HeadVectors at, std::int64_t words, std::int64_t count, const Word* from,
                      Word* to) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const std::int64_t index = index_in_tensor(at, words, i);
    if constexpr (gathers) {
      to[i] = from[index];
    } else {
      to[index] = from[i];
    }
  }
}

template <bool gathers, class Word>
void move_words(const HeadVectors& vectors, std::int64_t words, const void* from, void* to,
                cudaStream_t stream) {
  const std::int64_t count =
      vectors.parts * vectors.batch * vectors.heads * vectors.sequence * words;
  const auto kernel = move_heads_kernel<gathers, Word>;
  PARBENCH_LAUNCH(blocks_for(count), block_threads, stream, kernel, vectors, words, count,
                  static_cast<const Word*>(from), static_cast<Word*>(to));
}

bool multiples_of(std::size_t bytes, const void* from, const void* to) {
  return reinterpret_cast<std::uintptr_t>(from) % bytes == 0 &&
         reinterpret_cast<std::uintptr_t>(to) % bytes == 0;
}

template <bool gathers>
void move_heads(const HeadVectors& vectors, const void* from, void* to, cudaStream_t stream) {
  constexpr std::int64_t wide = sizeof(uint4);
  const std::int64_t bytes = vectors.head_size * (vectors.dtype == DType::bf16 ? 2 : 4);
  if (bytes % wide == 0 && multiples_of(wide, from, to)) {
    move_words<gathers, uint4>(vectors, bytes / wide, from, to, stream);
  } else if (vectors.dtype == DType::bf16) {
    move_words<gathers, std::uint16_t>(vectors, vectors.head_size, from, to, stream);
  } else {
    move_words<gathers, float>(vectors, vectors.head_size, from, to, stream);
  }
}

/// Return the index of the calling thread's warp in the grid, and the number of warps.
__device__ inline std::int64_t grid_warp() { return grid_thread() / lanes; }
__device__ inline std::int64_t grid_warps() { return grid_threads() / lanes; }
__device__ inline unsigned int lane_of_warp() { return threadIdx.x % lanes; }

/// Returns the number of keys that the query of a row attends to.
__device__ inline std::int64_t seen_keys(const ScoreMatrices& at, std::int64_t row) {
  return at.causal ? row % at.sequence + 1 : at.sequence;
}

template <class Element>
__global__ void __launch_bounds__(block_threads)
    soften_scores_kernel(ScoreMatrices at, const float* scores, Element* probabilities,
                         float* log_sums) {
  for (std::int64_t row = grid_warp(); row < at.rows; row += grid_warps()) {
    const float* own_scores = scores + row * at.sequence;
    Element* own = probabilities + row * at.sequence;
    const std::int64_t keys = seen_keys(at, row);
    float max = -FLT_MAX;
    for (std::int64_t i = lane_of_warp(); i < keys; i += lanes) {
      max = own_scores[i] > max ? own_scores[i] : max;
    }
    max = combined_in_warp(max, MaxOf{});
    float sum = 0;
    for (std::int64_t i = lane_of_warp(); i < keys; i += lanes) {
      sum += expf(at.scale * (own_scores[i] - max));
    }
    sum = combined_in_warp(sum, SumOf{});
    for (std::int64_t i = lane_of_warp(); i < at.sequence; i += lanes) {
      own[i] = narrowed<Element>(i < keys ? expf(at.scale * (own_scores[i] - max)) / sum : 0.0F);
    }
    if (lane_of_warp() == 0) log_sums[row] = at.scale * max + logf(sum);
  }
}

template <class Element>
__global__ void __launch_bounds__(block_threads)
    restore_probabilities_kernel(ScoreMatrices at, const float* scores, const float* log_sums,
                                 Element* probabilities) {
  for (std::int64_t i = grid_thread(); i < at.rows * at.sequence; i += grid_threads()) {
    const std::int64_t row = i / at.sequence;
    const bool seen = i % at.sequence < seen_keys(at, row);
    probabilities[i] = narrowed<Element>(seen ? expf(at.scale * scores[i] - log_sums[row]) : 0.0F);
  }
}

template <class Element>
__global__ void __launch_bounds__(block_threads)
    mean_gradients_kernel(HeadVectors at, const Element* destination, const Element* diff,
                          float* means) {
  const std::int64_t rows = at.batch * at.heads * at.sequence;
  for (std::int64_t row = grid_warp(); row < rows; row += grid_warps()) {
    const std::int64_t begin = index_in_tensor(at, at.head_size, row * at.head_size);
    float sum = 0;
    for (std::int64_t i = lane_of_warp(); i < at.head_size; i += lanes) {
      sum += widened(destination[begin + i]) * widened(diff[begin + i]);
    }
    sum = combined_in_warp(sum, SumOf{});
    if (lane_of_warp() == 0) means[row] = sum;
  }
}

template <class Element>
__global__ void __launch_bounds__(block_threads)
    differentiate_scores_kernel(ScoreMatrices at, const float* diff, const float* means,
                                Element* probabilities) {
  for (std::int64_t i = grid_thread(); i < at.rows * at.sequence; i += grid_threads()) {
    const float difference = diff[i] - means[i / at.sequence];
    probabilities[i] = narrowed<Element>(at.scale * widened(probabilities[i]) * difference);
  }
}

}  // namespace

void gather_heads(const HeadVectors& vectors, const void* tensor, void* matrices,
                  cudaStream_t stream) {
  move_heads<true>(vectors, tensor, matrices, stream);
}

void scatter_heads(const HeadVectors& vectors, const void* matrices, void* tensor,
                   cudaStream_t stream) {
  move_heads<false>(vectors, matrices, tensor, stream);
}

void soften_scores(const ScoreMatrices& matrices, const float* scores, void* probabilities,
                   float* log_sums, cudaStream_t stream) {
  with_element(matrices.dtype, [&](auto element) {
    using Element = decltype(element);
    PARBENCH_LAUNCH(blocks_for(matrices.rows * lanes), block_threads, stream,
                    soften_scores_kernel<Element>, matrices, scores,
                    static_cast<Element*>(probabilities), log_sums);
  });
}

void restore_probabilities(const ScoreMatrices& matrices, const float* scores,
                           const float* log_sums, void* probabilities, cudaStream_t stream) {
  with_element(matrices.dtype, [&](auto element) {
    using Element = decltype(element);
    PARBENCH_LAUNCH(blocks_for(matrices.rows * matrices.sequence), block_threads, stream,
                    restore_probabilities_kernel<Element>, matrices, scores, log_sums,
                    static_cast<Element*>(probabilities));
  });
}

void mean_gradients(const HeadVectors& vectors, const void* destination,
                    const void* diff_destination, float* means, cudaStream_t stream) {
  const std::int64_t rows = vectors.batch * vectors.heads * vectors.sequence;
  with_element(vectors.dtype, [&](auto element) {
    using Element = decltype(element);
    PARBENCH_LAUNCH(blocks_for(rows * lanes), block_threads, stream, mean_gradients_kernel<Element>,
                    vectors, static_cast<const Element*>(destination),
                    static_cast<const Element*>(diff_destination), means);
  });
}

void differentiate_scores(const ScoreMatrices& matrices, const float* diff, const float* means,
                          void* probabilities, cudaStream_t stream) {
  with_element(matrices.dtype, [&](auto element) {
    using Element = decltype(element);
    PARBENCH_LAUNCH(blocks_for(matrices.rows * matrices.sequence), block_threads, stream,
                    differentiate_scores_kernel<Element>, matrices, diff, means,
                    static_cast<Element*>(probabilities));
  });
}

}  // namespace parbench::cuda
