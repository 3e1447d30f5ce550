// What computes one pass of a convolution: an engine of cuDNN's, or the direct kernel.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "kernels/cuda/cudnn_graph.h"
#include "kernels/cuda/tuning.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

/// What cuDNN's heuristics, and tuning, have found for a graph.
struct EngineChoice {
  ConvolutionGraph graph;  // with the alignment that the engines count on
  CudnnEngines engines;
  Choice best;
};

/// Those of a device, by graph, nothing for a graph that no engine takes. Equal layers are many, in
/// a model and in the cases of a sweep, and asking for engines takes long.
class EngineChoices : public BoundedCache<std::string, std::optional<EngineChoice>> {
 public:
  EngineChoices() : BoundedCache(1024) {}  // several times the layers of the models, by chunk size
};

class ConvolutionEngine {
 public:
  /// cuDNN's engine for the graph; nothing when it has none.
  [[nodiscard]] static std::optional<ConvolutionEngine> find(CudaDevice& device,
                                                             const ConvolutionGraph& graph);

  /// Our kernel that takes every shape and type.
  [[nodiscard]] static ConvolutionEngine direct(const ConvolutionGraph& graph) {
    return {graph, std::nullopt, ChosenBy::library};
  }

  /// cuDNN's, or the direct kernel where cuDNN has none.
  [[nodiscard]] static ConvolutionEngine choose(CudaDevice& device, const ConvolutionGraph& graph);

  [[nodiscard]] const ConvolutionGraph& graph() const { return graph_; }
  [[nodiscard]] std::size_t workspace_bytes() const { return plan_ ? plan_->workspace_bytes() : 0; }
  /// For reports: "cuDNN eng36_k2=7_…".
  [[nodiscard]] std::string name() const;
  [[nodiscard]] ChosenBy chosen_by() const { return chosen_by_; }

  /// Enqueues the pass. Tensors are in the order of the operation's arguments, without those that
  /// the graph does not have.
  void run(CudaStream& stream, std::span<std::byte* const> tensors, std::byte* workspace);

 private:
  ConvolutionEngine(const ConvolutionGraph& graph, std::optional<CudnnPlan> plan, ChosenBy by)
      : graph_(graph), plan_(std::move(plan)), chosen_by_(by) {}

  ConvolutionGraph graph_;
  std::optional<CudnnPlan> plan_;  // else the direct kernel
  ChosenBy chosen_by_;
};

}  // namespace parbench::cuda
