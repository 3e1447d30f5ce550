// The softmax cross-entropy of rows of logits, its gradient and its sum.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Operands of `cross_entropy`. `diff` may be the logits' memory.
struct CrossEntropy {
  const void* logits;  // {rows, classes}
  const std::int32_t* targets;
  void* diff;  // {rows, classes}
  DType dtype;
  std::int64_t rows;
  std::int64_t classes;
  std::int64_t total;
  std::int32_t ignored;
  bool accumulate;  // adds the result to the loss
};

/// diff = (softmax(logits) − one_hot(target)) / total, 0 in rows whose target is `ignored`; loss
/// [+]= the sum of the other rows' cross-entropies / total. The cross-entropy of each row is
/// written to `losses`, and one block adds them in f64 in a fixed order.
void cross_entropy(const CrossEntropy& rows, double* losses, float* loss, cudaStream_t stream);

}  // namespace parbench::cuda
