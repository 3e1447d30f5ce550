// Mean squared error, and the additions of reductions between devices.
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/device_code/loss_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {

Planned plan(CudaDevice& device, const MseLoss& desc) {
  const std::int64_t count = element_count(desc.shape);
  const std::int64_t partials = squared_error_partials(desc.dtype, count);
  const KernelNeeds needs{.scratch_bytes = sizeof(double) * static_cast<std::size_t>(partials)};
  return kernel_op(device, desc, needs, [desc, count](CudaStream& stream, Addresses at) {
    const SquaredError error{
        .prediction = at[0],
        .target = at[1],
        .difference = at[3],
        .dtype = desc.dtype,
        .count = count,
        .scale = static_cast<float>(2.0 / static_cast<double>(desc.total_elements)),
        .divisor = desc.total_elements,
        .accumulate = desc.accumulate};
    squared_error(error, reinterpret_cast<double*>(stream.scratch()), floats(at[2]),
                  stream.handle());
  });
}

Planned plan(CudaDevice& device, const Accumulate& desc) {
  return kernel_op(device, desc, [count = desc.count](CudaStream& stream, Addresses at) {
    accumulate(floats(at[1]), floats(at[0]), count, stream.handle());
  });
}

}  // namespace parbench::cuda
