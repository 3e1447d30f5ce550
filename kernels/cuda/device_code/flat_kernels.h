// Elementwise kernels over flat memory. Arithmetic is in f32 whatever the element type. Pointers
// need the alignment of an element; kernels are fastest when all are multiples of 16 bytes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// out = max(in, 0); a NaN stays a NaN. `out` may be `in`.
void relu(void* out, const void* in, DType dtype, std::int64_t count, cudaStream_t stream);

/// out = in where gate > 0, otherwise 0. `out` may be `in`.
void gate(void* out, const void* gate, const void* in, DType dtype, std::int64_t count,
          cudaStream_t stream);

/// out = a + b, rounded once. `out` may be `a` or `b`.
void add(void* out, const void* a, const void* b, DType dtype, std::int64_t count,
         cudaStream_t stream);

/// The function factor · x + addend.
struct Line {
  float factor;
  float addend;
};

/// out = factor · in + addend. `out` may be `in`.
void scale(void* out, const void* in, const Line& line, DType dtype, std::int64_t count,
           cudaStream_t stream);

/// destination += source.
void accumulate(float* destination, const float* source, std::int64_t count, cudaStream_t stream);

/// parameters −= rate · gradients.
void descend(float* parameters, const float* gradients, float rate, std::int64_t count,
             cudaStream_t stream);

}  // namespace parbench::cuda
