// Convolution and the gradient of its source: one engine each, with kernels for the ReLU, and for
// the bias if no engine adds it.
#include <array>
#include <string>
#include <utility>

#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/channel_kernels.h"
#include "kernels/cuda/device_code/layers/activation_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// An operation that consists of one engine.
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

/// Returns the engine for a graph, or the direct kernel if cuDNN has none.
ConvolutionEngine engine_for(CudaDevice& device, const ConvolutionGraph& graph,
                             std::string& faults) {
  if (auto engine = ConvolutionEngine::find(device, graph, faults)) return *std::move(engine);
  return ConvolutionEngine::direct(graph);
}

/// Forward pass. After the engine, kernels add the bias unless the engine adds it, and clamp the
/// result if the description has a ReLU.
class ConvolutionForwardOp final : public CudaOp {
 public:
  ConvolutionForwardOp(CudaDevice& device, const ConvolutionForward& desc, ConvolutionEngine engine,
                       const std::string& faults)
      : CudaOp(device, desc),
        engine_(std::move(engine)),
        workspace_(add_scratch(engine_.workspace_bytes())),
        adds_bias_(desc.bias && !engine_.graph().bias),
        clamped_(desc.relu ? element_count(desc.shape.destination()) : 0) {
    set_implementation(engine_.name() + (adds_bias_ ? " + CUDA kernel (bias)" : "") +
                           (desc.relu ? " + CUDA kernel (ReLU)" : "") + faults,
                       engine_.chosen_by());
    const ConvolutionShape& shape = engine_.graph().shape;
    pixels_ = {shape.batch * shape.out_height() * shape.out_width(), shape.out_channels,
               engine_.graph().dtype};
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    std::byte* destination = arguments.back();
    std::byte* workspace = stream.scratch() + workspace_;
    if (adds_bias_) {
      engine_.run(stream, std::array{arguments[0], arguments[1], destination}, workspace);
      add_bias(destination, reinterpret_cast<const float*>(arguments[2]), pixels_, stream.handle());
    } else {
      engine_.run(stream, arguments, workspace);
    }
    if (clamped_ == 0) return;
    activate(destination, destination, {ActivationKind::relu, 0.0F, 0.0F}, pixels_.dtype, clamped_,
             stream.handle());
  }

 private:
  ConvolutionEngine engine_;
  std::size_t workspace_;
  bool adds_bias_;
  std::int64_t clamped_;  // number of elements for the ReLU; 0: no ReLU
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
  if (desc.bias) {
    if (auto fused = ConvolutionEngine::find(device, graph, faults)) {
      return std::make_unique<ConvolutionForwardOp>(device, desc, *std::move(fused), faults);
    }
    graph.bias = false;
  }
  auto engine = engine_for(device, graph, faults);
  return std::make_unique<ConvolutionForwardOp>(device, desc, std::move(engine), faults);
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
