// The squared error of predictions, its gradient and its sum.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Operands of `squared_error`.
struct SquaredError {
  const void* prediction;
  const void* target;
  void* difference;
  DType dtype;
  std::int64_t count;
  float scale;              // factor of the difference
  std::int64_t divisor;     // divisor of the sum
  bool accumulate = false;  // adds the result to the loss
};

/// Returns the number of partial sums that `squared_error` needs memory for. It depends only on
/// type and count, so that the result does not depend on the GPU.
[[nodiscard]] std::int64_t squared_error_partials(DType dtype, std::int64_t count);

/// difference = scale · (prediction − target); loss [+]= Σ(prediction − target)² / divisor. The sum
/// is computed in f64 in a fixed order, whatever the addresses: blocks write to `partials`, then
/// one block adds these.
void squared_error(const SquaredError& error, double* partials, float* loss, cudaStream_t stream);

}  // namespace parbench::cuda
