// Enqueueing of CUDA operations.
#include "kernels/cuda/runtime/cuda_op.h"

#include <stdexcept>

#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {

void CudaOp::enqueue(Stream& stream, std::span<const BufferView> views) {
  auto* mine = dynamic_cast<CudaStream*>(&stream);
  if (mine == nullptr) throw std::invalid_argument(name_ + " belongs to a CUDA device's streams");
  mine->execute(*this, views);
}

}  // namespace parbench::cuda
