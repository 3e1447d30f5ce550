// Convolution and the gradient of its source: one engine each, and a kernel for the bias where no
// engine adds it.
#include <array>
#include <string>
#include <utility>

#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/channel_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// An operation that is exactly one engine.
class ConvolutionOp final : public CudaOp {
 public:
  ConvolutionOp(CudaDevice& device, const OpDesc& desc, ConvolutionEngine engine,
                const std::string& faults)
      : CudaOp(device, desc),
        engine_(std::move(engine)),
        workspace_(add_scratch(engine_.workspace_bytes())) {
    set_implementation(engine_.name() + faults, engine_.chosen_by());
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    engine_.run(stream, arguments, stream.scratch() + workspace_);
  }

 private:
  ConvolutionEngine engine_;
  std::size_t workspace_;
};

/// The engine for a graph, or the direct kernel where cuDNN has none.
ConvolutionEngine engine_for(CudaDevice& device, const ConvolutionGraph& graph,
                             std::string& faults) {
  if (auto engine = ConvolutionEngine::find(device, graph, faults)) return *std::move(engine);
  return ConvolutionEngine::direct(graph);
}

/// Forward with the bias added behind the engine.
class BiasedConvolutionOp final : public CudaOp {
 public:
  BiasedConvolutionOp(CudaDevice& device, const OpDesc& desc, ConvolutionEngine engine,
                      const std::string& faults)
      : CudaOp(device, desc),
        engine_(std::move(engine)),
        workspace_(add_scratch(engine_.workspace_bytes())) {
    set_implementation(engine_.name() + " + CUDA kernel (bias)" + faults, engine_.chosen_by());
    const ConvolutionShape& shape = engine_.graph().shape;
    pixels_ = {shape.batch * shape.out_height() * shape.out_width(), shape.out_channels,
               engine_.graph().dtype};
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const auto* bias = reinterpret_cast<const float*>(arguments[2]);
    std::byte* destination = arguments[3];
    engine_.run(stream, std::array{arguments[0], arguments[1], destination},
                stream.scratch() + workspace_);
    add_bias(destination, bias, pixels_, stream.handle());
  }

 private:
  ConvolutionEngine engine_;
  std::size_t workspace_;
  Pixels pixels_;
};

}  // namespace

Planned plan(CudaDevice& device, const ConvolutionForward& desc) {
  ConvolutionGraph graph{.pass = ConvolutionPass::forward,
                         .shape = desc.shape,
                         .dtype = desc.dtype,
                         .arithmetic = arithmetic_of({desc.dtype, desc.math}),
                         .bias = desc.bias};
  std::string faults;
  if (!desc.bias) {
    auto engine = engine_for(device, graph, faults);
    return std::make_unique<ConvolutionOp>(device, desc, std::move(engine), faults);
  }
  if (auto fused = ConvolutionEngine::find(device, graph, faults)) {
    return std::make_unique<ConvolutionOp>(device, desc, *std::move(fused), faults);
  }
  graph.bias = false;
  auto engine = engine_for(device, graph, faults);
  return std::make_unique<BiasedConvolutionOp>(device, desc, std::move(engine), faults);
}

Planned plan(CudaDevice& device, const ConvolutionBackwardData& desc) {
  const ConvolutionGraph graph{.pass = ConvolutionPass::backward_data,
                               .shape = desc.shape,
                               .dtype = desc.dtype,
                               .arithmetic = arithmetic_of({desc.dtype, desc.math})};
  std::string faults;
  auto engine = engine_for(device, graph, faults);
  return std::make_unique<ConvolutionOp>(device, desc, std::move(engine), faults);
}

}  // namespace parbench::cuda
