// Calls of general operations on tensors that do not lie in canonical order: strides over canonical
// memory become strides over the memory of another layout.
#pragma once

#include <optional>
#include <vector>

#include "kernels/base/strided_layout.h"
#include "scenarios/models/general/lowering.h"

namespace parbench::general {

/// The calls with the memory of that name, an operation or a target, in the layout of `tensor`
/// instead of canonical order. Nothing where a call cannot read or write it there: one that is no
/// Map, or whose elements no strides describe.
[[nodiscard]] std::optional<std::vector<LoweredCall>> in_layout(
    const std::vector<LoweredCall>& calls, int name, const TensorDesc& tensor);

}  // namespace parbench::general
