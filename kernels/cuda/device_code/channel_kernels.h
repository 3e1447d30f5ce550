// Kernels that complement cuDNN's convolutions, on tensors with channels last: rows are pixels,
// columns are channels. Memory is on the device and aligned at least for its elements.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// A dense matrix {rows, channels}: all pixels of a batch.
struct Pixels {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  DType dtype = DType::f32;
};

/// tensor[row][channel] += bias[channel], added in f32.
void add_bias(void* tensor, const float* bias, const Pixels& pixels, cudaStream_t stream);

/// Returns the bytes of scratch memory for sum_pixels.
[[nodiscard]] std::size_t sum_scratch_bytes(const Pixels& pixels);

/// sums[channel] = Σ tensor[row][channel], added to the old value with `accumulate`. Sums are f32,
/// and their order depends only on the sizes: equal inputs have bitwise equal sums at any address.
void sum_pixels(float* sums, const void* tensor, const Pixels& pixels, bool accumulate,
                void* scratch, cudaStream_t stream);

/// destination += source.
void add_to(float* destination, const float* source, std::int64_t count, cudaStream_t stream);

/// Converts bf16 to f32.
void widen(float* destination, const void* source, std::int64_t count, cudaStream_t stream);

}  // namespace parbench::cuda
