// Parts of attention other than matrix products: copies of the heads' vectors, softmaxes, and their
// gradients.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Extents of a tensor of attention. It has `parts` groups at each position (such as query, key and
/// value), each with one vector per head.
struct HeadVectors {
  std::int64_t batch;
  std::int64_t sequence;
  std::int64_t parts;
  std::int64_t heads;
  std::int64_t head_size;
  DType dtype;
};

/// Copies {batch, sequence, parts, heads, head_size} to {parts, batch, heads, sequence, head_size}.
void gather_heads(const HeadVectors& vectors, const void* tensor, void* matrices,
                  cudaStream_t stream);
/// The inverse of gather_heads.
void scatter_heads(const HeadVectors& vectors, const void* matrices, void* tensor,
                   cudaStream_t stream);

/// Consecutive matrices {sequence, sequence} of scores or probabilities, with a row per query; a
/// causal query attends to the keys up to its own position.
struct ScoreMatrices {
  std::int64_t rows;  // rows of all matrices
  std::int64_t sequence;
  bool causal;
  float scale;
  DType dtype;  // type of probabilities and gradients of scores; scores are f32
};

/// probabilities = softmax(scale · scores) over the keys that a query attends to, 0 for the others;
/// log_sums[row] = log Σ exp(scale · scores). In f32, the probabilities may use the scores' memory.
void soften_scores(const ScoreMatrices& matrices, const float* scores, void* probabilities,
                   float* log_sums, cudaStream_t stream);

/// Recomputes the probabilities from the scores and the log_sums.
void restore_probabilities(const ScoreMatrices& matrices, const float* scores,
                           const float* log_sums, void* probabilities, cudaStream_t stream);

/// means[row] = Σ destination · diff_destination over a head's vector, for rows in the order
/// {batch, heads, sequence}. This equals the mean of the gradients of a row's probabilities,
/// weighted by these probabilities.
void mean_gradients(const HeadVectors& vectors, const void* destination,
                    const void* diff_destination, float* means, cudaStream_t stream);

/// Overwrites probabilities with the gradients of the scores before scaling: scale · probability ·
/// (diff − mean of the row). `diff`: gradients of the probabilities. `means`: results of
/// mean_gradients.
void differentiate_scores(const ScoreMatrices& matrices, const float* diff, const float* means,
                          void* probabilities, cudaStream_t stream);

}  // namespace parbench::cuda
