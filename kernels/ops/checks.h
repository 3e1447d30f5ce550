// Checks of operation descriptions, with messages that name the operation, the field and the value.
#pragma once

#include "kernels/ops/ops.h"

namespace parbench {

/// Throws UsageError for a description that makes no sense on any device.
void check(const OpDesc& desc);

}  // namespace parbench
