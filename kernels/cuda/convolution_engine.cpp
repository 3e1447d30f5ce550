// Asks cuDNN first, and computes directly what must not be missing.
#include "kernels/cuda/convolution_engine.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/cuda/device.h"
#include "kernels/cuda/direct_convolution.h"
#include "kernels/cuda/stream.h"
#include "kernels/error.h"

namespace parbench::cuda {
namespace {

void run_directly(const ConvolutionGraph& graph, std::span<std::byte* const> tensors,
                  cudaStream_t stream) {
  const auto* first = reinterpret_cast<const float*>(tensors[0]);
  const auto* second = reinterpret_cast<const float*>(tensors[1]);
  auto* result = reinterpret_cast<float*>(tensors[2]);
  switch (graph.pass) {
    case ConvolutionPass::forward:
      return convolve(result, first, second, graph.shape, stream);
    case ConvolutionPass::backward_data:
      return convolve_backward_data(result, first, second, graph.shape, stream);
    case ConvolutionPass::backward_weights:
      return convolve_backward_weights(result, first, second, graph.shape, stream);
  }
}

}  // namespace

/// Engines that take any image of a batch come first; with the others, a view that begins at an
/// image of odd size fails when it runs, with cuDNN's words on alignment.
std::optional<ConvolutionEngine> ConvolutionEngine::find(CudaDevice& device, ConvolutionGraph graph,
                                                         std::string& reason) {
  for (const bool aligned : {false, true}) {
    graph.aligned_images = aligned;
    if (auto plan = find_plan(device.cudnn(), graph, reason)) {
      return ConvolutionEngine(graph, std::move(plan));
    }
  }
  return std::nullopt;
}

ConvolutionEngine ConvolutionEngine::choose(CudaDevice& device, std::string_view operation,
                                            const ConvolutionGraph& graph) {
  std::string reason;
  if (auto engine = find(device, graph, reason)) return *std::move(engine);
  if (graph.dtype != DType::f32) refuse(operation, reason);
  return {graph, std::nullopt};
}

std::string ConvolutionEngine::name() const {
  return plan_ ? "cuDNN " + plan_->engine() : "CUDA kernel, direct";
}

void ConvolutionEngine::run(CudaStream& stream, std::span<std::byte* const> tensors,
                            std::byte* workspace) {
  if (plan_) return plan_->run(stream.cudnn(), tensors, workspace);
  run_directly(graph_, tensors, stream.handle());
}

void refuse(std::string_view operation, const std::string& reason) {
  throw Unsupported(fmt::format(
      "{}: cuDNN has no engine for this shape in bf16: {}; use channels in multiples of 8, or f32",
      operation, reason));
}

}  // namespace parbench::cuda
