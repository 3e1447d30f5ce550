// Padding and cropping of images, by a kernel of this project.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/images/padding_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

class PadImageOp final : public CudaOp {
 public:
  PadImageOp(CudaDevice& device, const PadImage& desc)
      : CudaOp(device, desc),
        dtype_(desc.dtype),
        padding_{.batch = desc.source[0],
                 .channels = desc.source[1],
                 .height = desc.source[2],
                 .width = desc.source[3],
                 .out_height = desc.destination()[2],
                 .out_width = desc.destination()[3],
                 .top = desc.edges.top,
                 .left = desc.edges.left} {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    pad_image(arguments[1], arguments[0], dtype_, padding_, stream.handle());
  }

 private:
  DType dtype_;
  Padding padding_;
};

}  // namespace

Planned plan(CudaDevice& device, const PadImage& desc) {
  return std::make_unique<PadImageOp>(device, desc);
}

}  // namespace parbench::cuda
