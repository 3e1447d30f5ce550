// Planning of CPU operations: from a description to something executable on oneDNN.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/cpu/runtime/cpu_op.h"
#include "kernels/ops/operands.h"
#include "kernels/ops/ops.h"

namespace parbench::cpu {

/// Plans an operation in the calling thread, which must have the affinity and the OpenMP team size
/// (`threads`) of the streams that will run it. Throws Unsupported with oneDNN's reason.
[[nodiscard]] std::unique_ptr<CpuOp> prepare(const OpDesc& desc, int threads);

/// The activation layout of CPU devices by `channel_order`: oneDNN's nChw16c where the channels
/// fill whole blocks of 16 (nChw8c and 8 on a processor without AVX-512), channels last, or
/// canonical (the 3-channel input image). Matrices are canonical.
[[nodiscard]] TensorDesc activation(const Shape& shape, DType dtype);

/// Returns the tensor that callers pass for an operand: activations in that layout, others as the
/// operation takes them.
[[nodiscard]] TensorDesc tensor_of_callers(const Operand& operand, const TensorDesc& taken);

/// Gives an operation that is a loop of our own its tensors: activations in that layout, opaque
/// operands with so many bytes, the others as they are described.
void add_tensors(CpuOp& op, std::size_t opaque_bytes = 0);

}  // namespace parbench::cpu
