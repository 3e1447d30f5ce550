// What computes one pass of a convolution: an engine of cuDNN's, a product of cuBLASLt's, or the
// direct kernel.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "kernels/cuda/cudnn/cudnn_graph.h"
#include "kernels/cuda/ops/matmul.h"
#include "kernels/cuda/tuning/tuning.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

/// What cuDNN's heuristics, and tuning, have found for a graph.
struct EngineChoice {
  ConvolutionGraph graph;  // with the alignment that the engines count on
  CudnnEngines engines;
  Choice best;
  bool lasting = true;  // otherwise another search may find more engines
};

using EngineSearch = std::variant<EngineChoice, CudnnFailure>;

/// Takes one of the engines that can be built; nothing where none can.
using TakeEngine = std::function<std::optional<Choice>(CudnnEngines&, const ConvolutionGraph&)>;

/// The engine for a graph on a GPU. A failure that is a fault comes before one that says that there
/// is no engine. Throws DeviceLost and OutOfMemory.
[[nodiscard]] EngineSearch search_engine(const CudnnTarget& target, ConvolutionGraph graph,
                                         std::size_t max_workspace, const TakeEngine& take);

/// The engines of a device, by graph. Equal layers are many, in a model and in the cases of a
/// sweep, and asking for engines takes tens of milliseconds. What failed by a fault, or was chosen
/// while a part of the heuristics failed, is not kept.
class EngineChoices {
 public:
  /// What is known of the key, or what `make` finds now.
  template <class Make>
  [[nodiscard]] EngineSearch& get(const std::string& key, const Make& make) {
    EngineSearch& found = searches_.get(key, make);
    if (is_lasting(found)) return found;
    passing_ = std::move(found);
    searches_.forget(key);
    return passing_;
  }

  [[nodiscard]] std::size_t size() const { return searches_.size(); }

 private:
  [[nodiscard]] static bool is_lasting(const EngineSearch& search) {
    if (const auto* choice = std::get_if<EngineChoice>(&search)) return choice->lasting;
    return std::get<CudnnFailure>(search).kind == CudnnFailure::Kind::unsupported;
  }

  static constexpr std::size_t max_searches =
      1024;  // several times the layers of the models, by micro-batch size
  BoundedCache<std::string, EngineSearch> searches_{max_searches};
  EngineSearch passing_ = CudnnFailure{};  // the last that is not kept
};

class ConvolutionEngine {
 public:
  /// cuDNN's engine for the graph, or where the device tunes and that is faster the product that it
  /// is (pointwise_product.h); nothing when cuDNN has no engine. A fault that it met is added to
  /// `faults`, which names of kernels end with.
  [[nodiscard]] static std::optional<ConvolutionEngine> find(CudaDevice& device,
                                                             const ConvolutionGraph& graph,
                                                             std::string& faults);

  /// Our kernel that takes every shape and type.
  [[nodiscard]] static ConvolutionEngine direct(const ConvolutionGraph& graph) {
    return {graph, std::nullopt, ChosenBy::library};
  }

  [[nodiscard]] const ConvolutionGraph& graph() const { return graph_; }
  [[nodiscard]] std::size_t workspace_bytes() const;
  /// For reports: "cuDNN eng36_k2=7_…", "cuBLASLt algorithm … on the source".
  [[nodiscard]] std::string name() const;
  [[nodiscard]] ChosenBy chosen_by() const { return chosen_by_; }

  /// Enqueues the pass. Tensors are in the order of the operation's arguments, without those that
  /// the graph does not have.
  void run(CudaStream& stream, std::span<std::byte* const> tensors, std::byte* workspace);

 private:
  ConvolutionEngine(const ConvolutionGraph& graph, std::optional<CudnnPlan> plan, ChosenBy by)
      : graph_(graph), plan_(std::move(plan)), chosen_by_(by) {}

  void take_product_if_faster(CudaDevice& device);

  ConvolutionGraph graph_;
  std::optional<CudnnPlan> plan_;
  std::unique_ptr<Matmul> product_;  // with neither, the direct kernel computes
  ChosenBy chosen_by_;
};

}  // namespace parbench::cuda
