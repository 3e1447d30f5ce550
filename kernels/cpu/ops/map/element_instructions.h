// The arithmetic of one instruction of a Map on a block of elements, vectorised.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/ops/map.h"

namespace parbench::cpu {

/// The elements that an instruction reads: one per result, or one for all results.
struct InstructionSource {
  const float* elements = nullptr;
  bool is_uniform = false;
};

/// out[i] = op(sources at i) for `count` elements and any operation with operands. `out` may be a
/// source's memory.
void run_instruction(ElementOp op, float* out, const std::array<InstructionSource, 3>& sources,
                     std::size_t count);

}  // namespace parbench::cpu
