// Calls of general operations on tensors in other layouts than canonical order: converts strides to
// the memory of another layout.
#pragma once

#include <optional>
#include <vector>

#include "kernels/base/strided_layout.h"
#include "scenarios/models/general/lowering.h"

namespace parbench::general {

/// Returns the calls with the memory `name` (an operation or a target) in the layout of `tensor`
/// instead of canonical order. Nothing if a call cannot access this layout: calls other than Maps,
/// and elements that strides do not describe.
[[nodiscard]] std::optional<std::vector<LoweredCall>> in_layout(
    const std::vector<LoweredCall>& calls, int name, const TensorDesc& tensor);

}  // namespace parbench::general
