// The arithmetic of one step of a Map on a block of elements, vectorised.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/ops/map.h"

namespace parbench::cpu {

/// The elements that a step reads: one per result, or one for all results.
struct StepSource {
  const float* elements = nullptr;
  bool is_uniform = false;
};

/// out[i] = op(sources at i) for `count` elements and any operation with operands. `out` may be a
/// source's memory.
void run_step(ElementOp op, float* out, const std::array<StepSource, 3>& sources,
              std::size_t count);

}  // namespace parbench::cpu
