// Kernels of our own beside cuDNN's convolutions, on tensors with the channels innermost: rows are
// pixels, columns are channels. Memory is on the device and aligned for its elements at least.
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

/// Bytes of scratch that sum_pixels takes.
[[nodiscard]] std::size_t sum_scratch_bytes(const Pixels& pixels);

/// sums[channel] = Σ tensor[row][channel], or added to it with `accumulate`. Sums are f32, and
/// their order depends on the sizes only: equal inputs have equal sums to the bit, wherever they
/// lie.
void sum_pixels(float* sums, const void* tensor, const Pixels& pixels, bool accumulate,
                void* scratch, cudaStream_t stream);

/// destination += source.
void add_to(float* destination, const float* source, std::int64_t count, cudaStream_t stream);

/// bf16 to f32.
void widen(float* destination, const void* source, std::int64_t count, cudaStream_t stream);

}  // namespace parbench::cuda
