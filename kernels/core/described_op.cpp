// Collects arguments and work, and resolves the memory of an execution.
#include "kernels/core/described_op.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "kernels/base/round_up.h"

namespace parbench {

DescribedOp::DescribedOp(const OpDesc& desc) : operands_(operands_of(desc)) {
  name_ = parbench::name_of(desc);
}

void DescribedOp::add_tensor(TensorDesc tensor) {
  if (arguments_.size() == operands_.size()) {
    throw std::logic_error(fmt::format("{} has no more than {} operands", name_, operands_.size()));
  }
  const Operand& operand = operands_[arguments_.size()];
  const TensorDesc& wanted = operand.tensor;
  if (operand.placement != Placement::opaque &&
      (tensor.shape != wanted.shape || tensor.dtype != wanted.dtype)) {
    throw std::logic_error(fmt::format("{}: {} must be {} {}, not {} {}", name_, operand.role,
                                       to_string(wanted.dtype), to_string(wanted.shape),
                                       to_string(tensor.dtype), to_string(tensor.shape)));
  }
  const double elements = is_opaque(tensor.layout)
                              ? static_cast<double>(tensor.bytes)
                              : static_cast<double>(element_count(tensor.shape)) *
                                    static_cast<double>(size_of(tensor.dtype));
  const int accesses = operand.access == Access::read_write ? 2 : 1;
  work_.bytes += operand.traffic.value_or(accesses * elements);
  arguments_.push_back({operand.role, operand.access, std::move(tensor)});
}

void DescribedOp::check_complete() const {
  if (arguments_.size() == operands_.size()) return;
  throw std::logic_error(
      fmt::format("{}: {} has no tensor", name_, operands_[arguments_.size()].role));
}

std::size_t DescribedOp::add_scratch(std::size_t bytes) {
  const std::size_t begin = scratch_bytes_;
  scratch_bytes_ += round_up(bytes, scratch_alignment);
  return begin;
}

void DescribedOp::resolve(std::span<const BufferView> views, std::string_view stream,
                          std::span<std::byte*> addresses) const {
  if (views.size() != arguments_.size() || views.size() > addresses.size()) {
    throw std::invalid_argument(
        fmt::format("{} takes {} arguments, not {}", name_, arguments_.size(), views.size()));
  }
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Argument& argument = arguments_[i];
    if (views[i].bytes < argument.tensor.bytes) {
      throw std::invalid_argument(fmt::format("{}: {} needs {} bytes, got {}", name_, argument.role,
                                              argument.tensor.bytes, views[i].bytes));
    }
    addresses[i] = resolved(views[i], name_, stream, argument.role);
  }
}

std::byte* resolved(const BufferView& view, std::string_view command, std::string_view stream,
                    std::string_view role) {
  if (view.is_backed()) return view.data();
  throw std::invalid_argument(fmt::format(
      "{} on {}: {} ({} bytes at offset {} of {}) has no memory; allocate or commit it first",
      command, stream, role, view.bytes, view.offset,
      view.buffer == nullptr ? "no buffer"
                             : fmt::format("a buffer of {} bytes", view.buffer->bytes())));
}

void check_copy(const BufferView& destination, const BufferView& source, std::string_view stream) {
  if (destination.bytes == source.bytes) return;
  throw std::invalid_argument(fmt::format("a copy of {} bytes into {} bytes on {}", source.bytes,
                                          destination.bytes, stream));
}

}  // namespace parbench
