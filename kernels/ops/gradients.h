// The operations that compute the gradients of an operation.
#pragma once

#include <vector>

#include "kernels/ops/ops.h"

namespace parbench {

/// Operations that together compute the gradients of what `forward` reads, in the order in which
/// they run. A tensor's gradient has its role with "diff_" in front. An operation that
/// reads a single tensor besides parameters reads the gradient of the output, whatever its role,
/// and what it writes is the gradient of the source. No operation for the source: its gradient is
/// that of the output.
/// `accumulate`: gradients of parameters are added to what is there. Throws std::logic_error for
/// operations without a gradient.
[[nodiscard]] std::vector<OpDesc> gradients_of(const OpDesc& forward, bool accumulate);

/// Whether the gradient of the source may take the memory of that of the output.
[[nodiscard]] bool gradient_may_overwrite(const OpDesc& forward);

}  // namespace parbench
