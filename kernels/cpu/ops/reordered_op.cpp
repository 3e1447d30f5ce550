// Copies of arguments in scratch memory, and the reorders from and to them.
#include "kernels/cpu/ops/reordered_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/cpu/ops/prepare.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {

ReorderedOp::ReorderedOp(const OpDesc& desc, Planned inner)
    : CpuOp(desc), inner_(std::move(inner)) {
  set_kernel(inner_->implementation());
  add_scratch(inner_->scratch_bytes());
  for (std::size_t slot = 0; slot < operands().size(); ++slot) {
    const Argument& inside = inner_->arguments().at(slot);
    const TensorDesc tensor = tensor_of_callers(operands()[slot], inside.tensor);
    add_tensor(tensor);
    if (tensor != inside.tensor) add_detour(slot, inside, tensor);
  }
}

void ReorderedOp::add_detour(std::size_t slot, const Argument& inside, const TensorDesc& outside) {
  const bool reads = inside.access == Access::read;
  const TensorDesc& from = reads ? outside : inside.tensor;
  const TensorDesc& to = reads ? inside.tensor : outside;
  const dnnl::memory::desc from_desc = memory_desc(from);
  const dnnl::memory::desc to_desc = memory_desc(to);
  const dnnl::reorder::primitive_desc chosen(engine(), from_desc, engine(), to_desc,
                                             user_scratchpad());
  PrimitiveCall reorder(chosen, dnnl::reorder(chosen));
  reorder.add(DNNL_ARG_FROM, from_desc);
  reorder.add(DNNL_ARG_TO, to_desc);
  const std::size_t copy = add_scratch(inside.tensor.bytes);
  const std::size_t scratch = add_scratch(reorder.scratch_bytes());
  set_implementation(fmt::format("{} + {} reorder of {} from {} to {}", implementation(),
                                 chosen.impl_info_str(), inside.role, from.layout.name(),
                                 to.layout.name()));
  detours_.push_back({slot, inside.access, copy, scratch, std::move(reorder)});
}

void ReorderedOp::execute(const Execution& execution, std::span<std::byte* const> arguments) {
  std::array<std::byte*, max_arguments> addresses{};
  std::ranges::copy(arguments, addresses.begin());
  for (Detour& detour : detours_) {
    std::byte* copy = execution.scratch + detour.copy;
    addresses.at(detour.slot) = copy;
    if (detour.access != Access::read) continue;
    const std::array<std::byte*, 2> ends{arguments[detour.slot], copy};
    detour.reorder.run(execution, ends, execution.scratch + detour.scratch);
  }
  inner_->execute(execution, std::span(addresses).first(arguments.size()));
  for (Detour& detour : detours_) {
    if (detour.access == Access::read) continue;
    const std::array<std::byte*, 2> ends{addresses.at(detour.slot), arguments[detour.slot]};
    detour.reorder.run(execution, ends, execution.scratch + detour.scratch);
  }
}

Planned in_device_layout(const OpDesc& desc, Planned inner) {
  for (std::size_t slot = 0; slot < inner->arguments().size(); ++slot) {
    const TensorDesc& inside = inner->arguments()[slot].tensor;
    if (tensor_of_callers(inner->operands()[slot], inside) == inside) continue;
    return std::make_unique<ReorderedOp>(desc, std::move(inner));
  }
  return inner;
}

}  // namespace parbench::cpu
