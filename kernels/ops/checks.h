// Checks of operation descriptions, with messages that name the operation, the field and the value.
#pragma once

#include <string_view>

#include "kernels/ops/ops.h"

namespace parbench {

/// Throws UsageError for a description that makes no sense on any device.
void check(const OpDesc& desc);

/// The part of `check` for a Map of that name.
void check_map(std::string_view name, const Map& desc);

}  // namespace parbench
