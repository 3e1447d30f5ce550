// Convolutions on our own kernels alone: the direct ones, and those for biases and widened inputs.
#include <array>
#include <memory>

#include "kernels/cuda/channel_kernels.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/direct_convolution.h"
#include "kernels/cuda/plans.h"
#include "kernels/cuda/stream.h"

namespace parbench::cuda {
namespace {

float* floats(std::byte* address) { return reinterpret_cast<float*>(address); }

class ForwardOp final : public CudaOp {
 public:
  ForwardOp(CudaDevice& device, const ConvolutionForward& desc)
      : CudaOp(device, name_of(desc)), desc_(desc) {
    const ConvolutionShape& shape = desc.shape;
    add_argument("source", Access::read, channels_last(shape.source(), desc.dtype));
    add_argument("weights", Access::read, channels_last(shape.weights(), desc.dtype));
    if (desc.bias) add_argument("bias", Access::read, canonical({shape.out_channels}));
    add_argument("destination", Access::write, channels_last(shape.destination(), desc.dtype));
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const ConvolutionShape& shape = desc_.shape;
    std::byte* destination = arguments.back();
    convolve_directly(ConvolutionPass::forward, shape, desc_.dtype,
                      std::array{arguments[0], arguments[1], destination}, stream.handle());
    if (!desc_.bias) return;
    add_bias(
        destination, floats(arguments[2]),
        {shape.batch * shape.out_height() * shape.out_width(), shape.out_channels, desc_.dtype},
        stream.handle());
  }

 private:
  ConvolutionForward desc_;
};

class DataOp final : public CudaOp {
 public:
  DataOp(CudaDevice& device, const ConvolutionBackwardData& desc)
      : CudaOp(device, name_of(desc)), desc_(desc) {
    const ConvolutionShape& shape = desc.shape;
    add_argument("diff_destination", Access::read, channels_last(shape.destination(), desc.dtype));
    add_argument("weights", Access::read, channels_last(shape.weights(), desc.dtype));
    add_argument("diff_source", Access::write, channels_last(shape.source(), desc.dtype));
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    convolve_directly(ConvolutionPass::backward_data, desc_.shape, desc_.dtype, arguments,
                      stream.handle());
  }

 private:
  ConvolutionBackwardData desc_;
};

/// Of bf16, those that accumulate take widened inputs, so that both ways are tested.
class WeightsOp final : public CudaOp {
 public:
  WeightsOp(CudaDevice& device, const ConvolutionBackwardWeights& desc)
      : CudaOp(device, name_of(desc)),
        desc_(desc),
        pixels_{desc.shape.batch * desc.shape.out_height() * desc.shape.out_width(),
                desc.shape.out_channels, desc.dtype},
        source_count_(element_count(desc.shape.source())),
        destination_count_(element_count(desc.shape.destination())),
        weights_count_(element_count(desc.shape.weights())) {
    const Access gradient = desc.accumulate ? Access::read_write : Access::write;
    add_argument("source", Access::read, channels_last(desc.shape.source(), desc.dtype));
    add_argument("diff_destination", Access::read,
                 channels_last(desc.shape.destination(), desc.dtype));
    add_argument("diff_weights", gradient, channels_last(desc.shape.weights(), DType::f32));
    if (desc.bias) add_argument("diff_bias", gradient, canonical({desc.shape.out_channels}));
    const auto scratch = [&](std::int64_t count) {
      return add_scratch(static_cast<std::size_t>(count) * sizeof(float));
    };
    gradient_ = scratch(weights_count_);
    source_ = scratch(source_count_);
    destination_ = scratch(destination_count_);
    sums_ = add_scratch(sum_scratch_bytes(pixels_));
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    std::byte* scratch = stream.scratch();
    const bool accumulate = desc_.accumulate;
    std::byte* gradient = accumulate ? scratch + gradient_ : arguments[2];
    if (accumulate && desc_.dtype == DType::bf16) {
      widen(floats(scratch + source_), arguments[0], source_count_, stream.handle());
      widen(floats(scratch + destination_), arguments[1], destination_count_, stream.handle());
      convolve_directly(ConvolutionPass::backward_weights, desc_.shape, DType::f32,
                        std::array{scratch + source_, scratch + destination_, gradient},
                        stream.handle());
    } else {
      convolve_directly(ConvolutionPass::backward_weights, desc_.shape, desc_.dtype,
                        std::array{arguments[0], arguments[1], gradient}, stream.handle());
    }
    if (accumulate) {
      add_to(floats(arguments[2]), floats(gradient), weights_count_, stream.handle());
    }
    if (!desc_.bias) return;
    sum_pixels(floats(arguments[3]), arguments[1], pixels_, accumulate, scratch + sums_,
               stream.handle());
  }

 private:
  ConvolutionBackwardWeights desc_;
  Pixels pixels_;
  std::int64_t source_count_;
  std::int64_t destination_count_;
  std::int64_t weights_count_;
  std::size_t gradient_ = 0;
  std::size_t source_ = 0;
  std::size_t destination_ = 0;
  std::size_t sums_ = 0;
};

}  // namespace

Planned plan(CudaDevice& device, const ConvolutionForward& desc) {
  return std::make_unique<ForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const ConvolutionBackwardData& desc) {
  return std::make_unique<DataOp>(device, desc);
}

Planned plan(CudaDevice& device, const ConvolutionBackwardWeights& desc) {
  return std::make_unique<WeightsOp>(device, desc);
}

}  // namespace parbench::cuda
