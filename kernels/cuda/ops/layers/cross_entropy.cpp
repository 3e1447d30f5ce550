// Softmax cross-entropy.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/layers/cross_entropy_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

class SoftmaxCrossEntropyOp final : public CudaOp {
 public:
  SoftmaxCrossEntropyOp(CudaDevice& device, const SoftmaxCrossEntropy& desc)
      : CudaOp(device, desc),
        desc_(desc),
        losses_(add_scratch(static_cast<std::size_t>(desc.rows) * sizeof(double))) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const CrossEntropy rows{.logits = arguments[0],
                            .targets = reinterpret_cast<const std::int32_t*>(arguments[1]),
                            .diff = arguments[3],
                            .dtype = desc_.dtype,
                            .rows = desc_.rows,
                            .classes = desc_.classes,
                            .total = desc_.total,
                            .ignored = desc_.ignored,
                            .accumulate = desc_.accumulate};
    cross_entropy(rows, reinterpret_cast<double*>(stream.scratch() + losses_), floats(arguments[2]),
                  stream.handle());
  }

 private:
  SoftmaxCrossEntropy desc_;
  std::size_t losses_;
};

}  // namespace

Planned plan(CudaDevice& device, const SoftmaxCrossEntropy& desc) {
  return std::make_unique<SoftmaxCrossEntropyOp>(device, desc);
}

}  // namespace parbench::cuda
