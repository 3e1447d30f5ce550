// Number of floating-point operations of an operation by definition, whatever its implementation.
#pragma once

#include "kernels/ops/ops.h"

namespace parbench {

/// Returns the number of floating-point operations. A multiply-add counts as two; copies, fills and
/// delays count as 0.
[[nodiscard]] double flops_of(const OpDesc& desc);

}  // namespace parbench
