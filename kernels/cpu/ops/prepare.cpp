// Plans any operation, and converts errors of oneDNN.
#include "kernels/cpu/ops/prepare.h"

#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <variant>

#include "kernels/base/error.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"
#include "kernels/ops/checks.h"
#include "kernels/ops/flops.h"

namespace parbench::cpu {
namespace {

[[noreturn]] void rethrow(const OpDesc& desc, const dnnl::error& error) {
  const std::string text = fmt::format("{}: oneDNN: {}", name_of(desc), error.what());
  if (error.status == dnnl_unimplemented) throw Unsupported(text);
  if (error.status == dnnl_invalid_arguments) throw UsageError(text);
  throw Error(text);
}

}  // namespace

TensorDesc tensor_of_callers(const Operand& operand, const TensorDesc& taken) {
  if (operand.placement != Placement::activation) return taken;
  return activation(operand.tensor.shape, operand.tensor.dtype);
}

void add_tensors(CpuOp& op, std::size_t opaque_bytes) {
  for (const Operand& operand : op.operands()) {
    const bool is_opaque = operand.placement == Placement::opaque;
    op.add_tensor(tensor_of_callers(operand, is_opaque ? opaque(opaque_bytes) : operand.tensor));
  }
}

std::unique_ptr<CpuOp> prepare(const OpDesc& desc, int threads) {
  if (threads < 1) {
    throw UsageError(
        fmt::format("{}: prepared for {} threads; it needs at least 1", name_of(desc), threads));
  }
  check(desc);
  if (const auto format = format_of(desc)) check_arithmetic(name_of(desc), *format);
  try {
    Planned op = std::visit([](const auto& one) { return plan(one); }, desc);
    op->check_complete();
    op->threads = threads;
    op->set_flops(flops_of(desc));
    return op;
  } catch (const dnnl::error& error) {
    rethrow(desc, error);
  }
}

}  // namespace parbench::cpu
