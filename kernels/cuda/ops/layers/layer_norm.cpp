// Layer normalisation and its backward pass, by kernels of this project: cuDNN's graph API has
// both, but does not guarantee that a gradient may be overwritten in place.
#include <fmt/format.h>

#include "kernels/base/round_up.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/layers/layer_norm_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

NormShape matrix_of(const CudaDevice& device, const Shape& shape) {
  const std::int64_t columns = shape.back();
  return norm_shape(element_count(shape) / columns, columns, device.multiprocessors());
}

}  // namespace

Planned plan(CudaDevice& device, const LayerNormForward& desc) {
  const NormShape matrix = matrix_of(device, desc.shape);
  return kernel_op(device, desc, [desc, matrix](CudaStream& stream, Addresses arguments) {
    const LayerNormPass at{.source = arguments[0],
                           .scale = floats(arguments[1]),
                           .shift = floats(arguments[2]),
                           .destination = arguments[3],
                           .mean = floats(arguments[4]),
                           .variance = floats(arguments[5]),
                           .dtype = desc.dtype};
    layer_norm_forward(matrix, at, desc.epsilon, stream.handle());
  });
}

Planned plan(CudaDevice& device, const LayerNormBackward& desc) {
  const NormShape matrix = matrix_of(device, desc.shape);
  const std::size_t totals =
      round_up(matrix.partial_count() * sizeof(float), CudaOp::scratch_alignment);
  const KernelNeeds needs{
      .scratch_bytes = totals + matrix.total_count() * sizeof(double),
      .implementation = fmt::format("CUDA kernels, {} slices of rows", matrix.slices)};
  return kernel_op(device, desc, needs, [=](CudaStream& stream, Addresses arguments) {
    const LayerNormGradient at{.source = arguments[0],
                               .diff_destination = arguments[1],
                               .mean = floats(arguments[2]),
                               .variance = floats(arguments[3]),
                               .scale = floats(arguments[4]),
                               .diff_source = arguments[5],
                               .diff_scale = floats(arguments[6]),
                               .diff_shift = floats(arguments[7]),
                               .dtype = desc.dtype};
    const NormScratch scratch{.partials = floats(stream.scratch()),
                              .totals = reinterpret_cast<double*>(stream.scratch() + totals),
                              .coefficients = nullptr,
                              .counters = stream.counters()};
    layer_norm_backward(matrix, at, desc.epsilon, desc.accumulate, scratch, stream.handle());
  });
}

}  // namespace parbench::cuda
