// Dropout with the counter-based generator.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/layers/dropout_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

class DropoutOp final : public CudaOp {
 public:
  DropoutOp(CudaDevice& device, const Dropout& desc)
      : CudaOp(device, desc),
        dtype_(desc.dtype),
        shape_(desc.shape),
        rule_{.random = {desc.seed, desc.subsequence},
              .first = desc.first,
              .probability = desc.probability,
              .factor = 1.0F / (1.0F - desc.probability)} {
    set_implementation("CUDA kernel, philox4x32-10");
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    if (shape_.size() == 4) {
      dropout_image(arguments[1], arguments[0], rule_, dtype_,
                    {.batch = shape_[0], .channels = shape_[1], .pixels = shape_[2] * shape_[3]},
                    stream.handle());
    } else {
      dropout(arguments[1], arguments[0], rule_, dtype_, element_count(shape_), stream.handle());
    }
  }

 private:
  DType dtype_;
  Shape shape_;
  DropoutRule rule_;
};

}  // namespace

Planned plan(CudaDevice& device, const Dropout& desc) {
  return std::make_unique<DropoutOp>(device, desc);
}

}  // namespace parbench::cuda
