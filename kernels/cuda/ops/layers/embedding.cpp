// Embeddings and their gradients.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/layers/embedding_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
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

class EmbeddingForwardOp final : public CudaOp {
 public:
  EmbeddingForwardOp(CudaDevice& device, const EmbeddingForward& desc)
      : CudaOp(device, desc), desc_(desc) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    gather_rows(embedding_indices(desc_, arguments[0]), arguments[1], arguments[2], desc_.dtype,
                stream.handle());
  }

 private:
  EmbeddingForward desc_;
};

class EmbeddingBackwardOp final : public CudaOp {
 public:
  EmbeddingBackwardOp(CudaDevice& device, const EmbeddingBackward& desc)
      : CudaOp(device, desc), desc_(desc) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    add_rows(embedding_indices(desc_, arguments[0]), arguments[1], desc_.dtype,
             floats(arguments[2]), desc_.accumulate, stream.handle());
  }

 private:
  EmbeddingBackward desc_;
};

}  // namespace

Planned plan(CudaDevice& device, const EmbeddingForward& desc) {
  return std::make_unique<EmbeddingForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const EmbeddingBackward& desc) {
  return std::make_unique<EmbeddingBackwardOp>(device, desc);
}

}  // namespace parbench::cuda
