// The backward pass of layers that multiply with weights.
#pragma once

#include "scenarios/models/layers/passes.h"

namespace parbench {

/// Emits gradients of the weights (and of the bias if `has_bias`), then that of the data, from
/// `incoming`, the gradient of the output, which it releases. The descriptions of the weights'
/// gradient differ only in `accumulate`. Returns the gradient of the data; empty if no layer needs
/// it.
BufferView write_product_backward(BackwardPass& pass, const Gradient& incoming,
                                  const OpDesc& weight_gradient,
                                  const OpDesc& accumulated_weight_gradient,
                                  const OpDesc& data_gradient, bool has_bias);

}  // namespace parbench
