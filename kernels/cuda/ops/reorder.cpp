// Copies between any two layouts and element types of CUDA devices.
#include <utility>

#include "kernels/cuda/device_code/reorder_kernels.h"
#include "kernels/cuda/ops/layout.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Returns whether the elements are stored in the same order. The stride of a dimension of extent
/// one is irrelevant.
bool same_order(const TensorDesc& a, const TensorDesc& b) {
  const std::vector<std::int64_t> left = strides_of(a);
  const std::vector<std::int64_t> right = strides_of(b);
  for (std::size_t i = 0; i < a.shape.size(); ++i) {
    if (a.shape[i] != 1 && left[i] != right[i]) return false;
  }
  return true;
}

}  // namespace

/// A tensor is a batch of matrices, {channels, pixels} or with channels last {pixels, channels}, so
/// changing the layout transposes them.
Planned plan(CudaDevice& device, const Reorder& desc) {
  const DType from = desc.source.dtype;
  const DType to = desc.destination.dtype;
  const Shape& shape = desc.source.shape;
  const std::int64_t count = element_count(shape);
  if (same_order(desc.source, desc.destination)) {
    const KernelNeeds needs{.implementation = from == to ? "cudaMemcpyAsync" : "CUDA kernel"};
    return kernel_op(device, desc, needs, [=](CudaStream& stream, Addresses at) {
      convert({at[1], to}, {at[0], from}, count, stream.handle());
    });
  }
  std::int64_t rows = shape.end()[-3];
  std::int64_t columns = shape.end()[-2] * shape.back();
  if (!desc.source.layout.is_canonical()) std::swap(rows, columns);
  const KernelNeeds needs{.implementation = "CUDA kernel, transposing"};
  return kernel_op(device, desc, needs, [=](CudaStream& stream, Addresses at) {
    transpose({at[1], to}, {at[0], from}, count / (rows * columns), rows, columns, stream.handle());
  });
}

}  // namespace parbench::cuda
