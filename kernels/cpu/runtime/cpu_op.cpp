#include "kernels/cpu/runtime/cpu_op.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/cpu/runtime/stream.h"

namespace parbench::cpu {

void CpuOp::enqueue(Stream& stream, std::span<const BufferView> views) {
  auto* mine = dynamic_cast<CpuStream*>(&stream);
  if (mine == nullptr) throw std::invalid_argument(name_ + " belongs to a CPU device's streams");
  mine->execute(*this, views);
}

void CpuOp::set_kernel(std::string_view implementation) {
  set_implementation(implementation);
  is_reference_ = is_reference_kernel(implementation);
}

bool is_reference_kernel(std::string_view implementation) {
  constexpr std::string_view separators = ":_ ";
  while (!implementation.empty()) {
    const std::size_t end =
        std::min(implementation.find_first_of(separators), implementation.size());
    if (implementation.substr(0, end) == "ref") return true;
    implementation.remove_prefix(std::min(end + 1, implementation.size()));
  }
  return false;
}

}  // namespace parbench::cpu
