// Measures an engine and a product for the gradient of a convolution's weights.
#include <array>
#include <optional>
#include <utility>

#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/ops/weight_gradient.h"
#include "kernels/cuda/tuning/autotuner.h"

namespace parbench::cuda {
namespace {

TuningCandidate gradient_candidate(WeightGradient& gradient) {
  return {gradient.scratch_bytes(), [&gradient](CudaStream& stream, auto tensors, auto scratch) {
            gradient.run(stream, {.source = tensors[0],
                                  .diff_destination = tensors[1],
                                  .diff_weights = tensors[2],
                                  .scratch = scratch});
          }};
}

}  // namespace

std::unique_ptr<WeightGradient> faster_gradient(CudaDevice& device, const ConvolutionGraph& graph,
                                                bool accumulate,
                                                std::unique_ptr<WeightGradient> engine) {
  Autotuner* tuner = device.autotuner();
  if (tuner == nullptr) return engine;
  if (graph.gradient == DType::f32 && !source_is_patches(graph.shape)) return engine;
  auto product = make_gradient_product(device, graph, accumulate);
  if (!product) return engine;
  const std::array<WeightGradient*, 2> candidates{engine.get(), product.get()};
  const auto make = [&](std::size_t index) -> std::optional<TuningCandidate> {
    return gradient_candidate(*candidates.at(index));
  };
  const std::string key = "engine or product" + std::string(accumulate ? ", added, of " : " of ") +
                          convolution_key(graph);
  ConvolutionGraph widened = graph;
  widened.gradient = DType::f32;  // both candidates have an f32 result
  const auto fastest = tuner->choose(key, convolution_tensors(widened), candidates.size(), make);
  auto& chosen = fastest == 1U ? product : engine;
  chosen->set_chosen_by(fastest ? ChosenBy::measuring : ChosenBy::heuristics);
  return std::move(chosen);
}

}  // namespace parbench::cuda
