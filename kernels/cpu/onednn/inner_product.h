// Plans of matrix products with weights, for fully connected and recurrent layers.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/base/tensor.h"
#include "kernels/ops/ops.h"

namespace parbench::cpu {

/// Returns whether oneDNN stores weights in blocks.
[[nodiscard]] bool is_blocked(const dnnl::memory::desc& weights);

// In the plans below, weights have the blocked layout that oneDNN prefers; if it prefers a plain
// layout, the inputs are outermost. Factors have the type `dtype`, results `result`; bias and
// gradients of parameters are f32.

[[nodiscard]] dnnl::inner_product_forward::primitive_desc plan_inner_product(
    const LinearShape& shape, DType dtype, DType result, bool bias);

[[nodiscard]] dnnl::inner_product_backward_data::primitive_desc plan_inner_product_data(
    const LinearShape& shape, DType dtype, DType result);

[[nodiscard]] dnnl::inner_product_backward_weights::primitive_desc plan_inner_product_weights(
    const LinearShape& shape, DType dtype, bool bias);

}  // namespace parbench::cpu
