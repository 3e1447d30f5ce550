// Enqueueing of CPU operations.
#include "kernels/cpu/cpu_op.h"

#include <stdexcept>

#include "kernels/cpu/stream.h"

namespace parbench::cpu {

void CpuOp::enqueue(Stream& stream, std::span<const BufferView> views) {
  auto* mine = dynamic_cast<CpuStream*>(&stream);
  if (mine == nullptr) throw std::invalid_argument(name_ + " belongs to a CPU device's streams");
  mine->execute(*this, views);
}

}  // namespace parbench::cpu
