// Rows of tables by index, and the gradient of a table.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Indices into a table {vocabulary, width}: i32, each at least 0 and below `vocabulary`.
struct EmbeddingIndices {
  const std::int32_t* at;
  std::int64_t count;
  std::int64_t vocabulary;
  std::int64_t width;
};

/// destination[i] = table[indices[i]]; both have elements of type `dtype`.
void gather_rows(const EmbeddingIndices& indices, const void* table, void* destination, DType dtype,
                 cudaStream_t stream);

/// table[v] [+]= Σ gradients[i] over the i with indices[i] = v, in f32 in ascending order of i.
/// Rows whose number is not among the indices become zero; with `accumulate` they are unchanged.
void add_rows(const EmbeddingIndices& indices, const void* gradients, DType dtype, float* table,
              bool accumulate, cudaStream_t stream);

}  // namespace parbench::cuda
