// Dropout with the counter-based generator.
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/layers/dropout_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {

Planned plan(CudaDevice& device, const Dropout& desc) {
  const KernelNeeds needs{.implementation = "CUDA kernel, philox4x32-10"};
  const DropoutRule rule{.random = {desc.seed, desc.subsequence},
                         .first = desc.first,
                         .probability = desc.probability,
                         .factor = 1.0F / (1.0F - desc.probability)};
  return kernel_op(device, desc, needs, [desc, rule](CudaStream& stream, Addresses at) {
    const Shape& shape = desc.shape;
    if (shape.size() == 4) {
      dropout_image(at[1], at[0], rule, desc.dtype,
                    {.batch = shape[0], .channels = shape[1], .pixels = shape[2] * shape[3]},
                    stream.handle());
    } else {
      dropout(at[1], at[0], rule, desc.dtype, element_count(shape), stream.handle());
    }
  });
}

}  // namespace parbench::cuda
