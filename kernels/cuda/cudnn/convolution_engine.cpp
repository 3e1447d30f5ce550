// Chooses cuDNN's engine for a convolution; the direct kernel computes convolutions without one.
#include "kernels/cuda/cudnn/convolution_engine.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/convolutions/direct_convolution.h"
#include "kernels/cuda/ops/layout.h"
#include "kernels/cuda/ops/pointwise_product.h"
#include "kernels/cuda/ops/weight_gradient.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/cuda/tuning/autotuner.h"

namespace parbench::cuda {
namespace {

std::optional<TuningCandidate> candidate(CudnnEngines& engines, std::size_t index) {
  auto plan = engines.build(index);
  if (!plan) return std::nullopt;
  const std::size_t workspace = plan->workspace_bytes();
  const auto shared = std::make_shared<CudnnPlan>(*std::move(plan));
  return TuningCandidate{
      workspace, [shared](CudaStream& stream, std::span<std::byte* const> tensors,
                          std::byte* memory) { shared->run(stream.cudnn(), tensors, memory); }};
}

/// Returns the engine that the device's tuner measures as the fastest; without a tuner, or if it
/// cannot choose, the heuristics' first engine that can be built.
std::optional<Choice> best_of(CudaDevice& device, CudnnEngines& engines,
                              const ConvolutionGraph& graph) {
  Autotuner* tuner = device.autotuner();
  if (tuner != nullptr) {
    // An index into an incomplete list of engines must not be used for a complete one.
    const std::string key = convolution_key(graph) + (engines.complete() ? "" : " incomplete");
    const auto fastest =
        tuner->choose(key, convolution_tensors(graph), engines.count(),
                      [&](std::size_t index) { return candidate(engines, index); });
    // An engine that an earlier process measured may fail in this one.
    if (fastest && engines.build(*fastest)) return Choice{*fastest, ChosenBy::measuring};
  }
  return library_choice(engines.first(), tuner != nullptr);
}

constexpr std::string_view no_engine =
    "no engine has the required arithmetic, bitwise equal results and a workspace within the limit";

}  // namespace

std::vector<TensorDesc> convolution_tensors(const ConvolutionGraph& graph) {
  const ConvolutionShape& shape = graph.shape;
  const TensorDesc source = channels_last(shape.source(), graph.dtype);
  const TensorDesc destination = channels_last(shape.destination(), graph.dtype);
  const TensorDesc weights = channels_last(shape.weights(), graph.dtype);
  switch (graph.pass) {
    case ConvolutionPass::backward_data:
      return {destination, weights, source};
    case ConvolutionPass::backward_weights:
      return {source, destination, channels_last(shape.weights(), graph.gradient)};
    case ConvolutionPass::forward:
      break;
  }
  if (!graph.bias) return {source, weights, destination};
  return {source, weights, canonical({shape.out_channels}), destination};
}

std::string convolution_key(const ConvolutionGraph& graph) {
  const ConvolutionShape& s = graph.shape;
  return fmt::format("convolution {} {}x{}x{}x{} {} {} {} {} {} {} {} {} {} {}{}",
                     static_cast<int>(graph.pass), s.batch, s.in_channels, s.height, s.width,
                     s.out_channels, s.kernel, s.stride, s.padding, s.groups, s.dilation,
                     to_string(graph.dtype), static_cast<int>(graph.arithmetic), graph.bias,
                     graph.aligned_images, graph.gradient == DType::f32 ? "" : " rounded");
}

/// First tries engines that accept the address of any image of a batch, then engines that require
/// addresses aligned to 16 bytes. With the latter, a run fails with cuDNN's message on alignment if
/// a view begins at an image whose address is not aligned.
EngineSearch search_engine(const CudnnTarget& target, ConvolutionGraph graph,
                           std::size_t max_workspace, const TakeEngine& take) {
  CudnnFailure failure;
  const auto keep = [&](CudnnFailure next) {
    if (failure.kind == CudnnFailure::Kind::unsupported) failure = std::move(next);
  };
  for (const bool aligned : {false, true}) {
    graph.aligned_images = aligned;
    auto found = CudnnEngines::find(target, graph, max_workspace);
    if (auto* none = std::get_if<CudnnFailure>(&found)) {
      keep(std::move(*none));
      continue;
    }
    auto& engines = std::get<CudnnEngines>(found);
    if (const auto best = take(engines, graph)) {
      const bool lasting = engines.complete();
      return EngineChoice{graph, std::move(engines), *best, lasting};
    }
    keep(engines.fault().empty()
             ? CudnnFailure{CudnnFailure::Kind::unsupported, std::string(no_engine)}
             : CudnnFailure{CudnnFailure::Kind::fault, engines.fault()});
  }
  return failure;
}

std::optional<ConvolutionEngine> ConvolutionEngine::find(CudaDevice& device,
                                                         const ConvolutionGraph& graph,
                                                         std::string& faults) {
  const auto add_fault = [&](const std::string& text) {
    if (!text.empty() && faults.empty()) faults = "; cuDNN failed: " + text;
  };
  const auto search = [&] {
    return search_engine({.handle = device.cudnn()}, graph,
                         workspace_limit(device.info().memory_bytes),
                         [&](CudnnEngines& engines, const ConvolutionGraph& aligned) {
                           return best_of(device, engines, aligned);
                         });
  };
  EngineSearch& found = device.engine_choices().get(convolution_key(graph), search);
  if (const auto* failure = std::get_if<CudnnFailure>(&found)) {
    if (failure->kind != CudnnFailure::Kind::unsupported) add_fault(failure->text);
    return std::nullopt;
  }
  auto& choice = std::get<EngineChoice>(found);
  auto plan = choice.engines.build(choice.best.index);
  add_fault(choice.engines.fault());
  if (!plan) return std::nullopt;
  ConvolutionEngine engine(choice.graph, std::move(plan), choice.best.by);
  engine.lasting_ = choice.lasting;
  // The choice is stored, so the engine must be the best of a complete list.
  if (choice.lasting) engine.take_product_if_faster(device);
  return engine;
}

/// Replaces the engine by a matrix product if there is an equivalent one and the tuner measures it
/// as faster. On some GPUs, cuDNN's f32 engines convert channels-last tensors to another layout,
/// which costs as much as reading and writing them again.
void ConvolutionEngine::take_product_if_faster(CudaDevice& device) {
  Autotuner* tuner = device.autotuner();
  const std::optional<Product> wanted = pointwise_product(graph_);
  if (tuner == nullptr || !wanted) return;
  std::unique_ptr<Matmul> product = Matmul::find(device, *wanted);
  if (!product) return;
  const bool fits =
      product->takes_any_address() || graph_.aligned_images || has_aligned_pixels(graph_);
  if (!fits) return;
  const auto candidate = [&](std::size_t index) -> std::optional<TuningCandidate> {
    if (index == 0) {
      return TuningCandidate{plan_->workspace_bytes(),
                             [this](auto& stream, auto tensors, auto memory) {
                               plan_->run(stream.cudnn(), tensors, memory);
                             }};
    }
    return TuningCandidate{
        product->workspace_bytes(), [&](auto& stream, auto tensors, auto memory) {
          product->run(stream.handle(), pointwise_addresses(graph_, tensors), memory);
        }};
  };
  const auto fastest = tuner->choose("engine or product of " + convolution_key(graph_),
                                     convolution_tensors(graph_), 2, candidate);
  if (fastest != 1U) return;
  plan_.reset();
  product_ = std::move(product);
  chosen_by_ = ChosenBy::measuring;
}

std::size_t ConvolutionEngine::workspace_bytes() const {
  if (product_) return product_->workspace_bytes();
  return plan_ ? plan_->workspace_bytes() : 0;
}

std::string ConvolutionEngine::name() const {
  if (product_) return product_->description() + " on the source";
  return plan_ ? "cuDNN " + plan_->engine() : "CUDA kernel, direct";
}

void ConvolutionEngine::run(CudaStream& stream, std::span<std::byte* const> tensors,
                            std::byte* workspace) {
  if (plan_) return plan_->run(stream.cudnn(), tensors, workspace);
  if (product_) {
    return product_->run(stream.handle(), pointwise_addresses(graph_, tensors), workspace);
  }
  convolve_directly(graph_.pass, graph_.shape, graph_.dtype, tensors, stream.handle());
}

}  // namespace parbench::cuda
