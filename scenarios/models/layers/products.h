// The backward pass of layers that multiply with weights.
#pragma once

#include "scenarios/models/layers/passes.h"

namespace parbench {

/// Gradients of the weights, and of the bias where there is one, then that of the data. Both
/// descriptions of the weights' gradient are the same but for `accumulate`.
void write_product_backward(BackwardPass& pass, const OpDesc& weight_gradient,
                            const OpDesc& accumulated_weight_gradient, const OpDesc& data_gradient,
                            bool bias);

}  // namespace parbench
