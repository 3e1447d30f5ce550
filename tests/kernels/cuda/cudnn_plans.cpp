// Prints what computes every convolution of ResNet-50 on GPUs that are only described, as a table
// of comma-separated values: scripts/cudnn-plans. No GPU is needed, and none is used.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/ops/weight_gradient.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/models.h"
#include "tests/kernels/cuda/described_gpus.h"

namespace {

using namespace parbench;
using namespace parbench::cuda;

constexpr std::int64_t batch = 120;  // the published settings
constexpr std::int64_t image = 128;

struct LayerOfKind {
  std::string name;  // of the first such layer
  ConvolutionShape shape;
  int count = 0;
};

/// The convolutions that differ, in the model's order.
std::vector<LayerOfKind> convolutions() {
  const Network network = resnet(50, image);
  std::vector<LayerOfKind> kinds;
  std::map<std::vector<std::int64_t>, std::size_t> indices;
  for (const Layer& layer : network.layers) {
    const auto* convolution = as<Convolution>(layer);
    if (convolution == nullptr) continue;
    const ConvolutionShape s = convolution->shape(network.work_of(layer, batch).inputs.front());
    const auto [known, is_new] = indices.try_emplace(
        {s.in_channels, s.height, s.width, s.out_channels, s.kernel, s.stride}, kinds.size());
    if (is_new) kinds.push_back({layer.name, s, 0});
    ++kinds[known->second].count;
  }
  return kinds;
}

/// What computes a graph, and what is known of it.
struct Row {
  std::string kernel;
  int place = -1;  // in the heuristics' order
  std::size_t workspace_bytes = 0;
  std::vector<std::string> notes;
  std::string fault;
};

std::string fallback_of(const ConvolutionGraph& graph) {
  if (graph.pass != ConvolutionPass::backward_weights) return "direct";
  return source_is_patches(graph.shape) ? "product on the source" : "product on patches";
}

Row row_of(const test::DescribedGpu& gpu, const CudnnTarget& target,
           const ConvolutionGraph& graph) {
  const EngineSearch found = search_engine(target, graph, workspace_limit(gpu.memory_bytes),
                                           [](CudnnEngines& engines, const ConvolutionGraph&) {
                                             return library_choice(engines.first(), false);
                                           });
  if (const auto* failure = std::get_if<CudnnFailure>(&found)) {
    const bool fault = failure->kind != CudnnFailure::Kind::unsupported;
    return {.kernel = fallback_of(graph), .notes = {}, .fault = fault ? failure->text : ""};
  }
  const auto& choice = std::get<EngineChoice>(found);
  EngineFacts facts = choice.engines.facts(choice.best.index);
  return {.kernel = std::move(facts.name),
          .place = static_cast<int>(choice.best.index),
          .workspace_bytes = facts.workspace_bytes,
          .notes = std::move(facts.notes),
          .fault = choice.engines.fault()};
}

std::string shape_text(const ConvolutionShape& s) {
  return fmt::format("{}x{}x{} to {} by {}x{} stride {}", s.in_channels, s.height, s.width,
                     s.out_channels, s.kernel, s.kernel, s.stride);
}

void print_rows(const test::DescribedGpu& gpu, NumberFormat format) {
  const CudnnTarget target = test::target_of(gpu);
  struct Named {
    ConvolutionPass pass;
    DType gradient;
    const char* name;
  };
  for (const auto& [pass, gradient, name] :
       {Named{ConvolutionPass::forward, DType::f32, "forward"},
        Named{ConvolutionPass::backward_data, DType::f32, "data"},
        Named{ConvolutionPass::backward_weights, DType::f32, "weights"},
        Named{ConvolutionPass::backward_weights, DType::bf16, "rounded weights"}}) {
    if (gradient != DType::f32 && gradient != format.dtype) continue;
    for (const LayerOfKind& layer : convolutions()) {
      const Row row = row_of(gpu, target,
                             {.pass = pass,
                              .shape = layer.shape,
                              .dtype = format.dtype,
                              .arithmetic = arithmetic_of(format),
                              .gradient = gradient});
      fmt::print("{},{},{},{},{},{},{},{},{},{},\"{}\"\n", gpu.compute_capability,
                 to_string(format), name, layer.name, layer.count, shape_text(layer.shape),
                 row.kernel, row.place, row.workspace_bytes, fmt::join(row.notes, "; "), row.fault);
    }
  }
}

}  // namespace

int main() {
  try {
    fmt::print("sm,type,pass,layer,count,shape,kernel,place,workspace_bytes,notes,fault\n");
    constexpr int ampere = 80;  // the first with TF32 and bf16; others are refused before planning
    for (const test::DescribedGpu& gpu : test::described_gpus()) {
      print_rows(gpu, {});
      if (gpu.compute_capability < ampere) continue;
      print_rows(gpu, {DType::f32, MathMode::tf32});
      print_rows(gpu, {DType::bf16});
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "cudnn-plans: {}\n", error.what());
    return 1;
  }
  return 0;
}
