// Embeddings and their gradients.
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/layers/embedding_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

template <class Desc>
EmbeddingIndices embedding_indices(const Desc& desc, const std::byte* indices) {
  return {.at = reinterpret_cast<const std::int32_t*>(indices),
          .count = desc.count,
          .vocabulary = desc.vocabulary,
          .width = desc.width};
}

}  // namespace

Planned plan(CudaDevice& device, const EmbeddingForward& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    gather_rows(embedding_indices(desc, at[0]), at[1], at[2], desc.dtype, stream.handle());
  });
}

Planned plan(CudaDevice& device, const EmbeddingBackward& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    add_rows(embedding_indices(desc, at[0]), at[1], desc.dtype, floats(at[2]), desc.accumulate,
             stream.handle());
  });
}

}  // namespace parbench::cuda
