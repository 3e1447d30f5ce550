// Softmax cross-entropy.
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/layers/cross_entropy_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {

Planned plan(CudaDevice& device, const SoftmaxCrossEntropy& desc) {
  const KernelNeeds needs{.scratch_bytes = static_cast<std::size_t>(desc.rows) * sizeof(double)};
  return kernel_op(device, desc, needs, [desc](CudaStream& stream, Addresses at) {
    const CrossEntropy rows{.logits = at[0],
                            .targets = reinterpret_cast<const std::int32_t*>(at[1]),
                            .diff = at[3],
                            .dtype = desc.dtype,
                            .rows = desc.rows,
                            .classes = desc.classes,
                            .total = desc.total,
                            .ignored = desc.ignored,
                            .accumulate = desc.accumulate};
    cross_entropy(rows, reinterpret_cast<double*>(stream.scratch()), floats(at[2]),
                  stream.handle());
  });
}

}  // namespace parbench::cuda
