// The backward pass of layers that multiply with weights.
#pragma once

#include "scenarios/models/layers/passes.h"

namespace parbench {

/// What becomes of the gradient of the bias: `none` where the operation has none, `dropped` where
/// the layer has none.
enum class BiasGradient { none, wanted, dropped };

/// Gradients of the weights, and of the bias where there is one, then that of the data, from
/// `incoming`, the gradient of the output, which it releases. Both descriptions of the weights'
/// gradient are the same but for `accumulate`. Returns the gradient of the data; empty where no
/// layer wants it.
BufferView write_product_backward(BackwardPass& pass, const Gradient& incoming,
                                  const OpDesc& weight_gradient,
                                  const OpDesc& accumulated_weight_gradient,
                                  const OpDesc& data_gradient, BiasGradient bias);

/// The parameter "bias" as an operation wants it; zeros where the layer has none.
[[nodiscard]] BufferView bias_or_zeros(ForwardPass& pass, bool has_bias, const TensorDesc& wanted);

}  // namespace parbench
