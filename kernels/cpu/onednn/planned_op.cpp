// Executes primitives through oneDNN's C interface: its C++ interface builds a map and a vector at
// every call.
#include "kernels/cpu/onednn/planned_op.h"

#include <fmt/format.h>

#include <stdexcept>

#include "kernels/cpu/runtime/engine.h"
#include "kernels/ops/operands.h"

namespace parbench::cpu {
namespace {

/// Returns the tensor that callers pass for an operand. oneDNN's descriptor of a matrix may have
/// more dimensions.
TensorDesc tensor_of(const Operand& operand, const dnnl::memory::desc& layout) {
  switch (operand.placement) {
    case Placement::exact:
      return operand.tensor;
    case Placement::opaque:
      return opaque(layout.get_size());
    case Placement::activation:
      if (operand.tensor.shape.size() == 2) return operand.tensor;
      break;
    case Placement::planned:
      break;
  }
  return describe(layout);
}

}  // namespace

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

PrimitiveCall::PrimitiveCall(const dnnl::primitive_desc_base& plan,
                             const dnnl::primitive& primitive)
    : primitive_(primitive), scratch_(plan.scratchpad_desc(), engine(), nullptr) {
  add(DNNL_ARG_SCRATCHPAD, scratch_);
}

void PrimitiveCall::add(int argument, const dnnl::memory::desc& desc) {
  add(argument, dnnl::memory(desc, engine(), nullptr));
}

void PrimitiveCall::add(int argument, const dnnl::memory& memory) {
  memories_.push_back(memory);
  addresses_.push_back(nullptr);
  arguments_.push_back({argument, memory.get()});
}

// Sets an address. Skips unchanged addresses, because oneDNN reads and writes the padding of a
// memory object when its address is set.
void PrimitiveCall::point(std::size_t slot, std::byte* address) {
  if (addresses_[slot] == address) return;
  memories_[slot].set_data_handle(address);
  addresses_[slot] = address;
}

void PrimitiveCall::run(const Execution& execution, std::span<std::byte* const> addresses,
                        std::byte* scratch) {
  point(0, scratch);
  for (std::size_t i = 0; i < addresses.size(); ++i) point(i + 1, addresses[i]);
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), execution.stream.get(),
                             static_cast<int>(arguments_.size()), arguments_.data()),
      "could not execute a primitive");
}

void bind_slot(const CpuOp& op, std::size_t slot, PrimitiveCall& call, int argument,
               const dnnl::memory::desc& layout) {
  const std::size_t bytes = op.arguments().at(slot).tensor.bytes;
  if (bytes != layout.get_size()) {
    throw std::logic_error(fmt::format("{}: argument {} of the primitive has {} bytes, not {}",
                                       op.name(), argument, layout.get_size(), bytes));
  }
  call.add(argument, layout);
}

void bind_next(CpuOp& op, PrimitiveCall& call, int argument, const dnnl::memory::desc& layout) {
  const std::size_t slot = op.arguments().size();
  op.add_tensor(tensor_of(op.operands().at(slot), layout));
  bind_slot(op, slot, call, argument, layout);
}

PrimitiveOp::PrimitiveOp(const OpDesc& desc, const dnnl::primitive_desc_base& plan,
                         const dnnl::primitive& primitive)
    : CpuOp(desc), call_(plan, primitive) {
  set_kernel(plan.impl_info_str());
  add_scratch(call_.scratch_bytes());
}

void PrimitiveOp::bind(int argument, const dnnl::memory::desc& layout) {
  bind_next(*this, call_, argument, layout);
}

std::unique_ptr<CpuOp> primitive_op(const OpDesc& desc, const dnnl::primitive_desc_base& plan,
                                    const dnnl::primitive& primitive,
                                    std::initializer_list<int> arguments) {
  auto op = std::make_unique<PrimitiveOp>(desc, plan, primitive);
  for (const int one : arguments) op->bind(one, plan.query_md(dnnl::query::exec_arg_md, one));
  return op;
}

void PrimitiveOp::execute(const Execution& execution, std::span<std::byte* const> arguments) {
  call_.run(execution, arguments, execution.scratch);
}

}  // namespace parbench::cpu
