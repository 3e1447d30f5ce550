// Layouts of tensors on CUDA devices: dense ones, canonical or with the channels innermost.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// The dimension at index rank − 3 innermost: {N, C, H, W} lies as N, H, W, C (NHWC); weights
/// {O, I, KH, KW} as O, KH, KW, I, and grouped ones likewise.
[[nodiscard]] TensorDesc channels_last(const Shape& shape, DType dtype);

/// Elements from one entry of each dimension to the next. Throws UsageError for a layout that
/// another backend made, and for an opaque one.
[[nodiscard]] std::vector<std::int64_t> strides_of(const TensorDesc& tensor);

}  // namespace parbench::cuda
