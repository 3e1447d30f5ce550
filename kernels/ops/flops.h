// Floating-point operations of an operation by its definition, whatever computes it.
#pragma once

#include "kernels/ops/ops.h"

namespace parbench {

/// A multiply-add counts two. Copies, fills and what only takes time count none.
[[nodiscard]] double flops_of(const OpDesc& desc);

}  // namespace parbench
