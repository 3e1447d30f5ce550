// Addition of a row to every row of a matrix, and its backward operation.
#include <cstdint>

#include "kernels/base/element.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/linear_kernels.h"
#include "kernels/cuda/ops/images/pixels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Sums `rows` rows of `columns` numbers into the second argument.
template <class Desc>
Planned plan_sum(CudaDevice& device, const Desc& desc, std::int64_t rows, std::int64_t columns) {
  const KernelNeeds needs{.scratch_bytes = column_sum_partials(rows, columns) * sizeof(float)};
  return kernel_op(device, desc, needs, [=](CudaStream& stream, Addresses at) {
    with_element(desc.dtype, [&]<class Element>(Element /*unused*/) {
      sum_columns(reinterpret_cast<const Element*>(at[0]), rows, columns, desc.accumulate,
                  floats(stream.scratch()), floats(at[1]), stream.handle());
    });
  });
}

}  // namespace

Planned plan(CudaDevice& device, const AddRepeated& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses arguments) {
    with_element(desc.dtype, [&]<class Element>(Element /*unused*/) {
      const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
      add_row(at(0), at(1), desc.repeats, desc.count, at(2), stream.handle());
    });
  });
}

Planned plan(CudaDevice& device, const AddChannelBias& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses arguments) {
    with_element(desc.dtype, [&]<class Element>(Element /*unused*/) {
      const auto at = [&](std::size_t i) { return reinterpret_cast<Element*>(arguments[i]); };
      add_row(at(0), floats(arguments[1]), pixels_of(desc.shape), desc.shape[1], at(2),
              stream.handle());
    });
  });
}

Planned plan(CudaDevice& device, const SumRepeats& desc) {
  return plan_sum(device, desc, desc.repeats, desc.count);
}

Planned plan(CudaDevice& device, const SumChannels& desc) {
  return plan_sum(device, desc, pixels_of(desc.shape), desc.shape[1]);
}

}  // namespace parbench::cuda
