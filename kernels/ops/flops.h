// Floating-point operations of an operation by definition, independent of the implementation.
#pragma once

#include "kernels/ops/ops.h"

namespace parbench {

/// A multiply-add counts as two. Copies, fills and delays count as 0.
[[nodiscard]] double flops_of(const OpDesc& desc);

}  // namespace parbench
