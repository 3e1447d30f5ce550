// Convolutions on our own kernels alone: the direct ones, and that for biases. Gradients of weights
// are the backend's own operation (convolution_weights.cpp), with direct kernels as its engines.
#include <array>
#include <memory>

#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/channel_kernels.h"
#include "kernels/cuda/device_code/convolutions/direct_convolution.h"
#include "kernels/cuda/device_code/layers/activation_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/ops/weight_gradient.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

class ForwardOp final : public CudaOp {
 public:
  ForwardOp(CudaDevice& device, const ConvolutionForward& desc)
      : CudaOp(device, desc), desc_(desc) {}

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const ConvolutionShape& shape = desc_.shape;
    std::byte* destination = arguments.back();
    convolve_directly(ConvolutionPass::forward, shape, desc_.dtype,
                      std::array{arguments[0], arguments[1], destination}, stream.handle());
    if (desc_.bias) {
      add_bias(
          destination, floats(arguments[2]),
          {shape.batch * shape.out_height() * shape.out_width(), shape.out_channels, desc_.dtype},
          stream.handle());
    }
    if (!desc_.relu) return;
    activate(destination, destination, {ActivationKind::relu, 0.0F, 0.0F}, desc_.dtype,
             element_count(shape.destination()), stream.handle());
  }

 private:
  ConvolutionForward desc_;
};

class DataOp final : public CudaOp {
 public:
  DataOp(CudaDevice& device, const ConvolutionBackwardData& desc)
      : CudaOp(device, desc), desc_(desc) {}

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    convolve_directly(ConvolutionPass::backward_data, desc_.shape, desc_.dtype, arguments,
                      stream.handle());
  }

 private:
  ConvolutionBackwardData desc_;
};

}  // namespace

Planned plan(CudaDevice& device, const ConvolutionForward& desc) {
  return std::make_unique<ForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const ConvolutionBackwardData& desc) {
  return std::make_unique<DataOp>(device, desc);
}

std::unique_ptr<WeightGradient> faster_gradient(CudaDevice& /*device*/,
                                                const ConvolutionGraph& /*graph*/,
                                                bool /*accumulate*/,
                                                std::unique_ptr<WeightGradient> engine) {
  return engine;
}

std::optional<ConvolutionEngine> ConvolutionEngine::find(CudaDevice& /*device*/,
                                                         const ConvolutionGraph& graph,
                                                         std::string& /*faults*/) {
  const ConvolutionShape& shape = graph.shape;
  if (graph.dtype == DType::bf16 || shape.stride > 1 || shape.groups > 1) return std::nullopt;
  return ConvolutionEngine(graph);
}

void ConvolutionEngine::run(CudaStream& stream, std::span<std::byte* const> tensors,
                            std::byte* /*workspace*/) const {
  convolve_directly(graph_.pass, graph_.shape, graph_.dtype, tensors, stream.handle());
}

}  // namespace parbench::cuda
