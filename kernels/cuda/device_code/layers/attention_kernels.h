// What attention needs beside matrix products: copies of the heads' vectors, softmaxes, and their
// gradients.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Tensors of attention have, at each position, `parts` groups of one vector for each head.
struct HeadVectors {
  std::int64_t batch;
  std::int64_t sequence;
  std::int64_t parts;
  std::int64_t heads;
  std::int64_t head_size;
  DType dtype;
};

/// {batch, sequence, parts, heads, head_size} to {parts, batch, heads, sequence, head_size}.
void gather_heads(const HeadVectors& vectors, const void* tensor, void* matrices,
                  cudaStream_t stream);
/// The other direction.
void scatter_heads(const HeadVectors& vectors, const void* matrices, void* tensor,
                   cudaStream_t stream);

/// Matrices {sequence, sequence} of scores or probabilities, one after the other: a row for each
/// query, of which a causal one sees the keys up to its own position.
struct ScoreMatrices {
  std::int64_t rows;  // of all matrices
  std::int64_t sequence;
  bool causal;
  float scale;
  DType dtype;  // of probabilities and gradients of scores; scores are f32
};

/// probabilities = softmax(scale · scores) over the keys that a query sees, 0 at the others;
/// log_sums[row] = log Σ exp(scale · scores). They may be the scores' memory in f32.
void soften_scores(const ScoreMatrices& matrices, const float* scores, void* probabilities,
                   float* log_sums, cudaStream_t stream);

/// The same probabilities from the log_sums.
void restore_probabilities(const ScoreMatrices& matrices, const float* scores,
                           const float* log_sums, void* probabilities, cudaStream_t stream);

/// means[row] = Σ destination · diff_destination over a head's vector, for rows in the order
/// {batch, heads, sequence}: the mean of the gradients of a row's probabilities.
void mean_gradients(const HeadVectors& vectors, const void* destination,
                    const void* diff_destination, float* means, cudaStream_t stream);

/// Overwrites probabilities with the gradients of the scores before scaling: scale · probability ·
/// (diff − mean of the row); `diff` are the gradients of the probabilities.
void differentiate_scores(const ScoreMatrices& matrices, const float* diff, const float* means,
                          void* probabilities, cudaStream_t stream);

}  // namespace parbench::cuda
