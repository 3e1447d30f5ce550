// Max pooling, average pooling and global average pooling and their backward passes, by kernels of
// this project. cuDNN's engines that write or read the indices of maxima are marked as using tensor
// cores, which strict f32 must not use. Its deprecated functions need the forward pass's source and
// destination, which the operation does not have (docs/decisions/cuda.md).
#include <fmt/format.h>

#include "kernels/base/error.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/pooling_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

PoolingWindows windows_of(const PoolingShape& shape) {
  const Shape destination = shape.destination();
  return {.batch = shape.source[0],
          .channels = shape.source[1],
          .height = shape.source[2],
          .width = shape.source[3],
          .out_height = destination[2],
          .out_width = destination[3],
          .kernel = shape.kernel,
          .stride = shape.stride,
          .padding = shape.padding};
}

/// Returns the memory for the indices of maxima, one byte per element of the destination.
KernelNeeds with_indices(const PoolingShape& shape) {
  return {.opaque_bytes = static_cast<std::size_t>(element_count(shape.destination()))};
}

std::uint8_t* bytes(std::byte* address) { return reinterpret_cast<std::uint8_t*>(address); }

void check_window(const OpDesc& desc, std::int64_t kernel) {
  if (kernel > max_window_positions || kernel * kernel > max_window_positions) {
    throw Unsupported(fmt::format(
        "{}: a kernel of {} has more positions than the {} that an index can name on CUDA devices; "
        "use a kernel of at most 15",
        name_of(desc), kernel, max_window_positions));
  }
}

/// `launch`: average_windows, or its backward operation.
template <class Desc, class Launch>
Planned plan_windows(CudaDevice& device, const Desc& desc, Launch launch) {
  const PoolingWindows windows = windows_of(desc.shape);
  return kernel_op(device, desc, [=](CudaStream& stream, Addresses at) {
    launch(at[0], at[1], desc.dtype, windows, desc.count_padding, stream.handle());
  });
}

/// `launch`: average_pool, or its backward operation.
template <class Desc, class Launch>
Planned plan_means(CudaDevice& device, const Desc& desc, Launch launch) {
  return kernel_op(device, desc, [=](CudaStream& stream, Addresses at) {
    const Shape& source = desc.source;
    launch(at[0], at[1], desc.dtype, source[0], source[2] * source[3], source[1], stream.handle());
  });
}

}  // namespace

Planned plan(CudaDevice& device, const MaxPoolForward& desc) {
  check_window(desc, desc.shape.kernel);
  const PoolingWindows windows = windows_of(desc.shape);
  return kernel_op(device, desc, with_indices(desc.shape),
                   [windows, dtype = desc.dtype](CudaStream& stream, Addresses at) {
                     max_pool(at[0], at[1], bytes(at[2]), dtype, windows, stream.handle());
                   });
}

Planned plan(CudaDevice& device, const MaxPoolBackward& desc) {
  check_window(desc, desc.shape.kernel);
  const PoolingWindows windows = windows_of(desc.shape);
  return kernel_op(device, desc, with_indices(desc.shape),
                   [windows, dtype = desc.dtype](CudaStream& stream, Addresses at) {
                     max_pool_backward(at[0], bytes(at[1]), at[2], dtype, windows, stream.handle());
                   });
}

Planned plan(CudaDevice& device, const AveragePoolForward& desc) {
  return plan_windows(device, desc, average_windows);
}

Planned plan(CudaDevice& device, const AveragePoolBackward& desc) {
  return plan_windows(device, desc, average_windows_backward);
}

Planned plan(CudaDevice& device, const GlobalAveragePoolForward& desc) {
  return plan_means(device, desc, average_pool);
}

Planned plan(CudaDevice& device, const GlobalAveragePoolBackward& desc) {
  return plan_means(device, desc, average_pool_backward);
}

}  // namespace parbench::cuda
