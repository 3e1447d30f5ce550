// Layer normalisation and its backward pass, by kernels of this project: cuDNN's graph API has
// both, but does not guarantee that a gradient may be overwritten in place.
#include <fmt/format.h>

#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/layers/layer_norm_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

NormShape matrix_of(const CudaDevice& device, const Shape& shape) {
  const std::int64_t columns = shape.back();
  return norm_shape(element_count(shape) / columns, columns, device.multiprocessors());
}

class LayerNormForwardOp final : public CudaOp {
 public:
  LayerNormForwardOp(CudaDevice& device, const LayerNormForward& desc)
      : CudaOp(device, desc), desc_(desc), matrix_(matrix_of(device, desc.shape)) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const LayerNormPass at{.source = arguments[0],
                           .scale = floats(arguments[1]),
                           .shift = floats(arguments[2]),
                           .destination = arguments[3],
                           .mean = floats(arguments[4]),
                           .variance = floats(arguments[5]),
                           .dtype = desc_.dtype};
    layer_norm_forward(matrix_, at, desc_.epsilon, stream.handle());
  }

 private:
  LayerNormForward desc_;
  NormShape matrix_;
};

class LayerNormBackwardOp final : public CudaOp {
 public:
  LayerNormBackwardOp(CudaDevice& device, const LayerNormBackward& desc)
      : CudaOp(device, desc),
        desc_(desc),
        matrix_(matrix_of(device, desc.shape)),
        partials_(add_scratch(matrix_.partial_count() * sizeof(float))),
        totals_(add_scratch(matrix_.total_count() * sizeof(double))) {
    set_implementation(fmt::format("CUDA kernels, {} slices of rows", matrix_.slices));
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const LayerNormGradient at{.source = arguments[0],
                               .diff_destination = arguments[1],
                               .mean = floats(arguments[2]),
                               .variance = floats(arguments[3]),
                               .scale = floats(arguments[4]),
                               .diff_source = arguments[5],
                               .diff_scale = floats(arguments[6]),
                               .diff_shift = floats(arguments[7]),
                               .dtype = desc_.dtype};
    const NormScratch scratch{.partials = floats(stream.scratch() + partials_),
                              .totals = reinterpret_cast<double*>(stream.scratch() + totals_),
                              .coefficients = nullptr,
                              .counters = stream.counters()};
    layer_norm_backward(matrix_, at, desc_.epsilon, desc_.accumulate, scratch, stream.handle());
  }

 private:
  LayerNormBackward desc_;
  NormShape matrix_;
  std::size_t partials_;
  std::size_t totals_;
};

}  // namespace

Planned plan(CudaDevice& device, const LayerNormForward& desc) {
  return std::make_unique<LayerNormForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const LayerNormBackward& desc) {
  return std::make_unique<LayerNormBackwardOp>(device, desc);
}

}  // namespace parbench::cuda
