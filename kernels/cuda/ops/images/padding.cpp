// Padding and cropping of images, by a kernel of this project.
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/images/padding_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {

Planned plan(CudaDevice& device, const PadImage& desc) {
  const Padding padding{.batch = desc.source[0],
                        .channels = desc.source[1],
                        .height = desc.source[2],
                        .width = desc.source[3],
                        .out_height = desc.destination()[2],
                        .out_width = desc.destination()[3],
                        .top = desc.edges.top,
                        .left = desc.edges.left};
  return kernel_op(device, desc, [=, dtype = desc.dtype](CudaStream& stream, Addresses at) {
    pad_image(at[1], at[0], dtype, padding, stream.handle());
  });
}

}  // namespace parbench::cuda
