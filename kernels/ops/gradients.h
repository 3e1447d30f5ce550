// The operations that compute the gradients of an operation.
#pragma once

#include <vector>

#include "kernels/ops/ops.h"

namespace parbench {

/// Returns the operations that together compute the gradients of the operands that `forward` reads,
/// in the order in which they run. The role of a tensor's gradient is the tensor's role with
/// "diff_" in front. Exception: if one of the returned operations reads a single tensor besides
/// parameters, this tensor is the gradient of the output, whatever its role, and a result with role
/// "destination" is the gradient of the source. If none of the operations writes the gradient of
/// the source, this gradient equals the gradient of the output. For a BatchNormForward with `add`,
/// the caller runs AddReluBackward before the returned operations. `accumulate`: gradients of
/// parameters are added to the previous values. Throws std::logic_error for operations without a
/// gradient.
[[nodiscard]] std::vector<OpDesc> gradients_of(const OpDesc& forward, bool accumulate);

/// Returns whether the gradient of the source may be written to the memory of the output's
/// gradient.
[[nodiscard]] bool gradient_may_overwrite(const OpDesc& forward);

}  // namespace parbench
