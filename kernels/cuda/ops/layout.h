// Layouts of tensors on CUDA devices: dense, canonical or channels last.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Returns a tensor whose third dimension from the end is innermost: {N, C, H, W} is stored as
/// N, H, W, C (NHWC), weights {O, I, KH, KW} as O, KH, KW, I, and grouped weights accordingly.
[[nodiscard]] TensorDesc channels_last(const Shape& shape, DType dtype);

/// Returns the stride of each dimension in elements. Throws UsageError for layouts of other
/// backends and for opaque tensors.
[[nodiscard]] std::vector<std::int64_t> strides_of(const TensorDesc& tensor);

}  // namespace parbench::cuda
