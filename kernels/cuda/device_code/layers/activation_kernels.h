// Activation functions and their backward operations over flat memory. Arithmetic is in f32
// whatever the element type. Pointers need the alignment of an element; kernels are fastest when
// all are multiples of 16 bytes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/activation_kind.h"
#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// A function, and its limits if it has any.
struct Activation {
  ActivationKind kind;
  float low;
  float high;
};

/// out = f(in). `out` may be `in`.
void activate(void* out, const void* in, const Activation& activation, DType dtype,
              std::int64_t count, cudaStream_t stream);

/// out = gradient·f'. `known`: input or output of the forward pass (see `backward_reads_source`).
/// `out` may be `gradient`.
void activation_gradient(void* out, const void* known, const void* gradient,
                         const Activation& activation, DType dtype, std::int64_t count,
                         cudaStream_t stream);

}  // namespace parbench::cuda
