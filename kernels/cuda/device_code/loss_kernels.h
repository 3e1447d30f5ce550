// The squared error of predictions, its gradient and its sum.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// What `squared_error` computes on, for both of its kernels.
struct SquaredError {
  const void* prediction;
  const void* target;
  void* difference;
  DType dtype;
  std::int64_t count;
  float scale;              // of the difference
  std::int64_t divisor;     // of the sum
  bool accumulate = false;  // of the loss
};

/// Partial sums that `squared_error` needs memory for; a function of the count alone, so that the
/// result does not depend on the GPU either.
[[nodiscard]] std::int64_t squared_error_partials(DType dtype, std::int64_t count);

/// difference = scale · (prediction − target); loss [+]= Σ(prediction − target)² / divisor. The sum
/// is taken in f64 in a fixed order, whatever the addresses: by blocks into `partials`, then by one
/// block.
void squared_error(const SquaredError& error, double* partials, float* loss, cudaStream_t stream);

}  // namespace parbench::cuda
