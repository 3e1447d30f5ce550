// Collecting arguments and work, and resolving the memory of an execution.
#include "kernels/core/described_op.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "kernels/base/round_up.h"

namespace parbench {
namespace {

constexpr std::size_t scratch_alignment = 256;

}  // namespace

void DescribedOp::add_argument(std::string_view role, Access access, TensorDesc tensor) {
  const double elements = is_opaque(tensor.layout)
                              ? static_cast<double>(tensor.bytes)
                              : static_cast<double>(element_count(tensor.shape)) *
                                    static_cast<double>(size_of(tensor.dtype));
  work_.bytes += access == Access::read_write ? 2 * elements : elements;
  arguments_.push_back({role, access, std::move(tensor)});
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
      "{} on {}: {} is {} bytes from byte {} of {}; allocate or commit its memory first", command,
      stream, role, view.bytes, view.offset,
      view.buffer == nullptr ? "no buffer"
                             : fmt::format("a buffer of {} bytes", view.buffer->bytes())));
}

void check_copy(const BufferView& destination, const BufferView& source, std::string_view stream) {
  if (destination.bytes == source.bytes) return;
  throw std::invalid_argument(fmt::format("a copy of {} bytes into {} bytes on {}", source.bytes,
                                          destination.bytes, stream));
}

}  // namespace parbench
