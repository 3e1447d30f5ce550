// Tensors and enqueueing of CUDA operations.
#include "kernels/cuda/runtime/cuda_op.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/ops/layout.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/ops/operands.h"

namespace parbench::cuda {
namespace {

TensorDesc tensor_of(const CudaDevice& device, const Operand& operand, std::size_t opaque_bytes) {
  const TensorDesc& tensor = operand.tensor;
  switch (operand.placement) {
    case Placement::exact:
      break;
    case Placement::opaque:
      return opaque(opaque_bytes);
    case Placement::activation:
      return device.activation(tensor.shape, tensor.dtype);
    case Placement::planned:
      if (tensor.shape.size() > 2) return channels_last(tensor.shape, tensor.dtype);
      break;  // matrices, as of linear layers, are as described
  }
  return tensor;
}

}  // namespace

CudaOp::CudaOp(CudaDevice& device, const OpDesc& desc, std::size_t opaque_bytes)
    : DescribedOp(desc), device_(device) {
  for (const Operand& operand : operands()) add_tensor(tensor_of(device, operand, opaque_bytes));
}

bool CudaOp::begins_first_run(Addresses arguments) {
  constexpr std::uintptr_t vector_bytes = 16;
  const bool is_aligned = std::ranges::all_of(arguments, [](const std::byte* address) {
    return reinterpret_cast<std::uintptr_t>(address) % vector_bytes == 0;
  });
  return !std::exchange(has_run_[is_aligned ? 1 : 0], true);
}

void CudaOp::enqueue(Stream& stream, std::span<const BufferView> views) {
  auto* mine = dynamic_cast<CudaStream*>(&stream);
  if (mine == nullptr) throw std::invalid_argument(name_ + " belongs to a CUDA device's streams");
  mine->execute(*this, views);
}

}  // namespace parbench::cuda
