// Planning of CPU operations: from a description to an executable operation on oneDNN.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/cpu/runtime/cpu_op.h"
#include "kernels/ops/operands.h"
#include "kernels/ops/ops.h"

namespace parbench::cpu {

/// Plans an operation in the calling thread, which must have the affinity and the OpenMP team size
/// (`threads`) of the streams that will run the operation. Throws Unsupported with oneDNN's reason.
[[nodiscard]] std::unique_ptr<CpuOp> prepare(const OpDesc& desc, int threads);

/// Returns the activation layout of CPU devices by `channel_order`: oneDNN's nChw16c if the
/// channels fill whole blocks of 16 (nChw8c and 8 on a processor without AVX-512), channels last,
/// or canonical (the 3-channel input image). Matrices are canonical.
[[nodiscard]] TensorDesc activation(const Shape& shape, DType dtype);

/// Returns the tensor that callers pass for an operand. Activations have the layout of
/// `activation`; others have the layout `taken`, which the operation requires.
[[nodiscard]] TensorDesc tensor_of_callers(const Operand& operand, const TensorDesc& taken);

/// Adds the tensors of an operation that is a loop of this project: activations in the layout of
/// `activation`, opaque operands with `opaque_bytes` bytes, others as described.
void add_tensors(CpuOp& op, std::size_t opaque_bytes = 0);

}  // namespace parbench::cpu
