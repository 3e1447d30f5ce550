// What every operation is supposed to compute, as plain loops in double precision.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/ops/ops.h"

namespace parbench::test {

/// The elements of a tensor in canonical order.
using Values = std::vector<double>;
/// Tensors by role.
using Tensors = std::map<std::string, Values, std::less<>>;

/// Executions that the counter `steps` of an Adam holds before the one under test.
inline constexpr int steps_before = 6;

/// The outputs of an operation, opaque ones left out. `inputs` holds what it reads (the old content
/// of what it accumulates to included). Backward passes after an opaque mask or indices take the
/// forward pass's source (and scale and shift) instead.
[[nodiscard]] Tensors naive(const OpDesc& desc, const Tensors& inputs);

}  // namespace parbench::test
