// Batch normalisation in training, alone or with an addition and a ReLU, and its backward pass, by
// kernels of this project.
#include "kernels/cuda/ops/layers/batch_norm.h"

#include <fmt/format.h>

#include <memory>

#include "kernels/base/element.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/batch_norm/batch_norm_kernels.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Base of the operations by kernels of this project: the division of the activation, and scratch
/// memory.
class NormKernelsOp : public NormOp {
 protected:
  template <class Desc>
  NormKernelsOp(CudaDevice& device, const Desc& desc) : NormKernelsOp(device, desc, desc.shape) {}

  [[nodiscard]] const NormShape& norm() const { return norm_; }
  [[nodiscard]] NormScratch parts_of(std::byte* scratch, const CudaStream& stream) const {
    return {.partials = floats(scratch + partials_),
            .totals = reinterpret_cast<double*>(scratch + totals_),
            .coefficients = floats(scratch + coefficients_),
            .counters = stream.counters()};
  }

 private:
  NormKernelsOp(CudaDevice& device, const OpDesc& desc, const Shape& shape)
      : NormOp(device, desc, mask_size(shape)),
        norm_(norm_shape(shape[0] * shape[2] * shape[3], shape[1], device.multiprocessors())),
        partials_(add_scratch(norm_.partial_count() * sizeof(float))),
        totals_(add_scratch(norm_.total_count() * sizeof(double))),
        coefficients_(add_scratch(3 * static_cast<std::size_t>(shape[1]) * sizeof(float))) {
    set_implementation(fmt::format("CUDA kernels, {} slices of rows", norm_.slices));
  }

  NormShape norm_;
  std::size_t partials_;
  std::size_t totals_;
  std::size_t coefficients_;
};

class BatchNormForwardOp final : public NormKernelsOp {
 public:
  BatchNormForwardOp(CudaDevice& device, const BatchNormForward& desc)
      : NormKernelsOp(device, desc), desc_(desc) {}
  void run(CudaStream& stream, Addresses arguments, std::byte* scratch) override;

 private:
  template <class Element>
  void launch(const CudaStream& stream, Addresses arguments, std::byte* scratch) const;

  BatchNormForward desc_;
};

template <class Element>
void BatchNormForwardOp::launch(const CudaStream& stream, Addresses arguments,
                                std::byte* scratch) const {
  const NormForward<Element> at{.source = elements<Element>(arguments[0]),
                                .scale = floats(arguments[1]),
                                .shift = floats(arguments[2]),
                                .running_mean = floats(arguments[3]),
                                .running_variance = floats(arguments[4]),
                                .destination = elements<Element>(arguments[5]),
                                .mean = floats(arguments[6]),
                                .variance = floats(arguments[7]),
                                .mask = desc_.relu ? elements<std::uint8_t>(arguments[8]) : nullptr,
                                .addend = desc_.add ? elements<Element>(arguments[9]) : nullptr};
  batch_norm_forward(norm(), at, desc_.epsilon, desc_.momentum, parts_of(scratch, stream),
                     stream.handle());
}

void BatchNormForwardOp::run(CudaStream& stream, Addresses arguments, std::byte* scratch) {
  with_element(desc_.dtype, [&]<class Element>(Element /*unused*/) {
    launch<Element>(stream, arguments, scratch);
  });
}

class BatchNormBackwardOp final : public NormKernelsOp {
 public:
  BatchNormBackwardOp(CudaDevice& device, const BatchNormBackward& desc)
      : NormKernelsOp(device, desc), desc_(desc) {}
  void run(CudaStream& stream, Addresses arguments, std::byte* scratch) override;

 private:
  template <class Element>
  void launch(const CudaStream& stream, Addresses arguments, std::byte* scratch) const;

  BatchNormBackward desc_;
};

template <class Element>
void BatchNormBackwardOp::launch(const CudaStream& stream, Addresses arguments,
                                 std::byte* scratch) const {
  const auto gradients = arguments.last(3);
  const NormBackward<Element> at{
      .source = elements<Element>(arguments[0]),
      .diff_destination = elements<Element>(arguments[1]),
      .mean = floats(arguments[2]),
      .variance = floats(arguments[3]),
      .scale = floats(arguments[4]),
      .mask = desc_.relu ? elements<std::uint8_t>(arguments[6]) : nullptr,
      .diff_source = elements<Element>(gradients[0]),
      .diff_scale = floats(gradients[1]),
      .diff_shift = floats(gradients[2])};
  batch_norm_backward(norm(), at, desc_.epsilon, desc_.accumulate, parts_of(scratch, stream),
                      stream.handle());
}

void BatchNormBackwardOp::run(CudaStream& stream, Addresses arguments, std::byte* scratch) {
  with_element(desc_.dtype, [&]<class Element>(Element /*unused*/) {
    launch<Element>(stream, arguments, scratch);
  });
}

}  // namespace

Planned plan(CudaDevice& device, const BatchNormForward& desc) {
  return faster_norm(device, desc, std::make_unique<BatchNormForwardOp>(device, desc));
}

Planned plan(CudaDevice& device, const BatchNormBackward& desc) {
  return faster_norm(device, desc, std::make_unique<BatchNormBackwardOp>(device, desc));
}

Planned plan(CudaDevice& device, const AddReluBackward& desc) {
  const Shape& shape = desc.shape;
  const NormShape matrix{.rows = shape[0] * shape[2] * shape[3], .channels = shape[1]};
  const KernelNeeds needs{.opaque_bytes = mask_size(shape)};
  return kernel_op(device, desc, needs, [desc, matrix](CudaStream& stream, Addresses arguments) {
    with_element(desc.dtype, [&]<class Element>(Element /*unused*/) {
      const AddReluGradient<Element> at{
          .mask = elements<std::uint8_t>(arguments[0]),
          .a = elements<Element>(arguments[1]),
          .b = desc.two_gradients ? elements<Element>(arguments[2]) : nullptr,
          .diff_source = elements<Element>(arguments.back())};
      add_relu_backward(matrix, at, stream.handle());
    });
  });
}

}  // namespace parbench::cuda
