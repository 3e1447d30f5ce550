// Planning of CPU operations.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/cpu/runtime/cpu_op.h"
#include "kernels/ops/operands.h"
#include "kernels/ops/ops.h"

namespace parbench::cpu {

/// Plans an operation in the calling thread, which must have the affinity and the OpenMP team size
/// (`threads`) of the streams that will run the operation. Throws Unsupported if oneDNN or the
/// processor does not support the operation, and UsageError for an invalid description.
[[nodiscard]] std::unique_ptr<CpuOp> prepare(const OpDesc& desc, int threads);

/// Returns the description of an activation. Images have the layout of `channel_order`: nChw16c of
/// oneDNN (nChw8c on a processor without AVX-512), nhwc or canonical. Other activations are
/// canonical. Throws UsageError unless the shape has 2 to 4 dimensions.
[[nodiscard]] TensorDesc activation(const Shape& shape, DType dtype);

/// Returns the tensor that callers pass for an operand. Activations have the layout of
/// `activation`; others have the layout `taken`, which the operation requires.
[[nodiscard]] TensorDesc tensor_of_callers(const Operand& operand, const TensorDesc& taken);

/// Adds the tensors of all operands: activations in the layout of `activation`, opaque operands
/// with `opaque_bytes` bytes each, others as described.
void add_tensors(CpuOp& op, std::size_t opaque_bytes = 0);

}  // namespace parbench::cpu
