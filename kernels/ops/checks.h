// Checks of operation descriptions, with messages that name the operation, the field and the value.
#pragma once

#include <string_view>

#include "kernels/ops/ops.h"

namespace parbench {

/// Throws UsageError for a description that is invalid on every device.
void check(const OpDesc& desc);

/// Throws UsageError, with a message that begins with `name`, for an invalid Map.
void check_map(std::string_view name, const Map& desc);

}  // namespace parbench
