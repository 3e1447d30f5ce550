// Convolution and the gradient of its source: one engine each, and a kernel for the bias where no
// engine adds it.
#include <array>
#include <string>
#include <utility>

#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/channel_kernels.h"
#include "kernels/cuda/ops/layout.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/ops/checks.h"

namespace parbench::cuda {
namespace {

/// An operation that is exactly one engine.
class ConvolutionOp final : public CudaOp {
 public:
  ConvolutionOp(CudaDevice& device, std::string_view name, ConvolutionEngine engine,
                const std::string& faults)
      : CudaOp(device, name),
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
  BiasedConvolutionOp(CudaDevice& device, std::string_view name, ConvolutionEngine engine,
                      const std::string& faults)
      : CudaOp(device, name),
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

Planned plan_forward(CudaDevice& device, std::string_view name, const ConvolutionForward& desc) {
  ConvolutionGraph graph{.pass = ConvolutionPass::forward,
                         .shape = desc.shape,
                         .dtype = desc.dtype,
                         .arithmetic = arithmetic_of({desc.dtype, desc.math}),
                         .bias = desc.bias};
  std::string faults;
  if (!desc.bias) {
    auto engine = engine_for(device, graph, faults);
    return std::make_unique<ConvolutionOp>(device, name, std::move(engine), faults);
  }
  if (auto fused = ConvolutionEngine::find(device, graph, faults)) {
    return std::make_unique<ConvolutionOp>(device, name, *std::move(fused), faults);
  }
  graph.bias = false;
  auto engine = engine_for(device, graph, faults);
  return std::make_unique<BiasedConvolutionOp>(device, name, std::move(engine), faults);
}

}  // namespace

Planned plan(CudaDevice& device, const ConvolutionForward& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  device.check_arithmetic(name, {desc.dtype, desc.math});
  Planned op = plan_forward(device, name, desc);
  op->add_argument("source", Access::read, device.activation(desc.shape.source(), desc.dtype));
  op->add_argument("weights", Access::read, channels_last(desc.shape.weights(), desc.dtype));
  if (desc.bias) op->add_argument("bias", Access::read, canonical({desc.shape.out_channels}));
  op->add_argument("destination", Access::write,
                   device.activation(desc.shape.destination(), desc.dtype));
  return op;
}

Planned plan(CudaDevice& device, const ConvolutionBackwardData& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  device.check_arithmetic(name, {desc.dtype, desc.math});
  const ConvolutionGraph graph{.pass = ConvolutionPass::backward_data,
                               .shape = desc.shape,
                               .dtype = desc.dtype,
                               .arithmetic = arithmetic_of({desc.dtype, desc.math})};
  std::string faults;
  auto engine = engine_for(device, graph, faults);
  auto op = std::make_unique<ConvolutionOp>(device, name, std::move(engine), faults);
  op->add_argument("diff_destination", Access::read,
                   device.activation(desc.shape.destination(), desc.dtype));
  op->add_argument("weights", Access::read, channels_last(desc.shape.weights(), desc.dtype));
  op->add_argument("diff_source", Access::write,
                   device.activation(desc.shape.source(), desc.dtype));
  return op;
}

}  // namespace parbench::cuda
