// Batch normalisation in training, alone or with an addition and a ReLU, and its backward pass, on
// kernels of our own.
//
// Not on cuDNN's, for these reasons. The functions that have all of this are deprecated, and their
// fast mode, CUDNN_BATCHNORM_SPATIAL_PERSISTENT, limits the range of values. Neither they nor the
// nodes of the graph API promise that a gradient may be overwritten in place, or give the variance:
// only 1/sqrt(variance + epsilon), which loses digits on the way back. And streams and partitions
// share a GPU here, so no block may wait for another to run beside it, as those of the graph API's
// only engine seem to (docs/decisions/0010-cuda-backend.md).
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/batch_norm_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/ops/checks.h"

namespace parbench::cuda {
namespace {

TensorDesc mask_of(const Shape& shape) {
  return opaque(static_cast<std::size_t>(mask_bytes(element_count(shape))));
}

float* floats(std::byte* address) { return reinterpret_cast<float*>(address); }

/// What both directions have in common: the division of the activation, and its scratch memory.
class NormOp : public CudaOp {
 protected:
  NormOp(CudaDevice& device, std::string_view name, const Shape& shape)
      : CudaOp(device, name),
        norm_(norm_shape(shape[0] * shape[2] * shape[3], shape[1], device.multiprocessors())),
        partials_(add_scratch(norm_.partial_count() * sizeof(float))),
        totals_(add_scratch(norm_.total_count() * sizeof(double))),
        coefficients_(add_scratch(3 * static_cast<std::size_t>(shape[1]) * sizeof(float))) {
    set_implementation(fmt::format("CUDA kernels, {} slices of rows", norm_.slices));
  }

  [[nodiscard]] const NormShape& norm() const { return norm_; }
  [[nodiscard]] NormScratch scratch_of(const CudaStream& stream) const {
    return {.partials = floats(stream.scratch() + partials_),
            .totals = reinterpret_cast<double*>(stream.scratch() + totals_),
            .coefficients = floats(stream.scratch() + coefficients_),
            .counters = stream.counters()};
  }

 private:
  NormShape norm_;
  std::size_t partials_;
  std::size_t totals_;
  std::size_t coefficients_;
};

template <class Element>
Element* elements(std::byte* address) {
  return reinterpret_cast<Element*>(address);
}

class BatchNormForwardOp final : public NormOp {
 public:
  BatchNormForwardOp(CudaDevice& device, const BatchNormForward& desc);
  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override;

 private:
  template <class Element>
  void launch(const CudaStream& stream, std::span<std::byte* const> arguments) const;

  BatchNormForward desc_;
};

BatchNormForwardOp::BatchNormForwardOp(CudaDevice& device, const BatchNormForward& desc)
    : NormOp(device, name_of(desc), desc.shape), desc_(desc) {
  const TensorDesc activation = device.activation(desc.shape, desc.dtype);
  const TensorDesc channel = canonical({desc.shape[1]});
  add_argument("source", Access::read, activation);
  add_argument("scale", Access::read, channel);
  add_argument("shift", Access::read, channel);
  add_argument("running_mean", Access::read_write, channel);
  add_argument("running_variance", Access::read_write, channel);
  add_argument("destination", Access::write, activation);
  add_argument("mean", Access::write, channel);
  add_argument("variance", Access::write, channel);
  if (desc.relu) add_argument("mask", Access::write, mask_of(desc.shape));
  if (desc.add) add_argument("addend", Access::read, activation);
}

template <class Element>
void BatchNormForwardOp::launch(const CudaStream& stream,
                                std::span<std::byte* const> arguments) const {
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
  batch_norm_forward(norm(), at, desc_.epsilon, desc_.momentum, scratch_of(stream),
                     stream.handle());
}

void BatchNormForwardOp::execute(CudaStream& stream, std::span<std::byte* const> arguments) {
  if (desc_.dtype == DType::f32) {
    launch<float>(stream, arguments);
  } else {
    launch<std::uint16_t>(stream, arguments);
  }
}

class BatchNormBackwardOp final : public NormOp {
 public:
  BatchNormBackwardOp(CudaDevice& device, const BatchNormBackward& desc);
  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override;

 private:
  template <class Element>
  void launch(const CudaStream& stream, std::span<std::byte* const> arguments) const;

  BatchNormBackward desc_;
};

BatchNormBackwardOp::BatchNormBackwardOp(CudaDevice& device, const BatchNormBackward& desc)
    : NormOp(device, name_of(desc), desc.shape), desc_(desc) {
  const TensorDesc activation = device.activation(desc.shape, desc.dtype);
  const TensorDesc channel = canonical({desc.shape[1]});
  const Access gradient = desc.accumulate ? Access::read_write : Access::write;
  add_argument("source", Access::read, activation);
  add_argument("diff_destination", Access::read, activation);
  add_argument("mean", Access::read, channel);
  add_argument("variance", Access::read, channel);
  add_argument("scale", Access::read, channel);
  add_argument("shift", Access::read, channel);
  if (desc.relu) add_argument("mask", Access::read, mask_of(desc.shape));
  add_argument("diff_source", Access::write, activation);
  add_argument("diff_scale", gradient, channel);
  add_argument("diff_shift", gradient, channel);
}

template <class Element>
void BatchNormBackwardOp::launch(const CudaStream& stream,
                                 std::span<std::byte* const> arguments) const {
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
  batch_norm_backward(norm(), at, desc_.epsilon, desc_.accumulate, scratch_of(stream),
                      stream.handle());
}

void BatchNormBackwardOp::execute(CudaStream& stream, std::span<std::byte* const> arguments) {
  if (desc_.dtype == DType::f32) {
    launch<float>(stream, arguments);
  } else {
    launch<std::uint16_t>(stream, arguments);
  }
}

class AddReluBackwardOp final : public CudaOp {
 public:
  AddReluBackwardOp(CudaDevice& device, const AddReluBackward& desc);
  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override;

 private:
  template <class Element>
  void launch(const CudaStream& stream, std::span<std::byte* const> arguments) const;

  AddReluBackward desc_;
};

AddReluBackwardOp::AddReluBackwardOp(CudaDevice& device, const AddReluBackward& desc)
    : CudaOp(device, name_of(desc)), desc_(desc) {
  const TensorDesc activation = device.activation(desc.shape, desc.dtype);
  add_argument("mask", Access::read, mask_of(desc.shape));
  add_argument("a", Access::read, activation);
  if (desc.two_gradients) add_argument("b", Access::read, activation);
  add_argument("diff_source", Access::write, activation);
  set_implementation("CUDA kernel");
}

template <class Element>
void AddReluBackwardOp::launch(const CudaStream& stream,
                               std::span<std::byte* const> arguments) const {
  const Shape& shape = desc_.shape;
  const NormShape matrix{.rows = shape[0] * shape[2] * shape[3], .channels = shape[1]};
  const AddReluGradient<Element> at{
      .mask = elements<std::uint8_t>(arguments[0]),
      .a = elements<Element>(arguments[1]),
      .b = desc_.two_gradients ? elements<Element>(arguments[2]) : nullptr,
      .diff_source = elements<Element>(arguments.back())};
  add_relu_backward(matrix, at, stream.handle());
}

void AddReluBackwardOp::execute(CudaStream& stream, std::span<std::byte* const> arguments) {
  if (desc_.dtype == DType::f32) {
    launch<float>(stream, arguments);
  } else {
    launch<std::uint16_t>(stream, arguments);
  }
}

}  // namespace

Planned plan(CudaDevice& device, const BatchNormForward& desc) {
  check(name_of(desc), desc);
  device.check_dtype(name_of(desc), desc.dtype);
  return std::make_unique<BatchNormForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const BatchNormBackward& desc) {
  check_batch_norm(name_of(desc), desc.shape);
  device.check_dtype(name_of(desc), desc.dtype);
  return std::make_unique<BatchNormBackwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const AddReluBackward& desc) {
  check_shape(name_of(desc), desc.shape, 4);
  device.check_dtype(name_of(desc), desc.dtype);
  return std::make_unique<AddReluBackwardOp>(device, desc);
}

}  // namespace parbench::cuda
