// Converts calls of general operations from tensors in canonical order to tensors in other layouts.
#pragma once

#include <optional>
#include <vector>

#include "kernels/base/strided_layout.h"
#include "scenarios/models/general/lowering.h"

namespace parbench::general {

/// Returns the calls, changed to access the memory `name` (see LoweredCall) in the layout of
/// `tensor` instead of canonical order. Nothing if a call that accesses this memory is not a Map,
/// or if a Map cannot access the same elements in that layout with constant strides.
[[nodiscard]] std::optional<std::vector<LoweredCall>> in_layout(
    const std::vector<LoweredCall>& calls, int name, const TensorDesc& tensor);

}  // namespace parbench::general
