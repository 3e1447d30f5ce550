// The implementation of one pass of a convolution: an engine of cuDNN, a product of cuBLASLt, or
// the direct kernel.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/cuda/cudnn/cudnn_graph.h"
#include "kernels/cuda/ops/matmul.h"
#include "kernels/cuda/tuning/tuning.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

/// Returns the tensors of a graph, in the order of the arguments of ConvolutionEngine::run.
[[nodiscard]] std::vector<TensorDesc> convolution_tensors(const ConvolutionGraph& graph);

/// Returns a key of everything that affects the engines of a graph.
[[nodiscard]] std::string convolution_key(const ConvolutionGraph& graph);

/// The engine that cuDNN's heuristics or tuning selected for a graph.
struct EngineChoice {
  ConvolutionGraph graph;  // including the alignment that the engines require
  CudnnEngines engines;
  Choice best;
  bool lasting = true;  // false: another search may find more engines
};

using EngineSearch = std::variant<EngineChoice, CudnnFailure>;

/// Selects one of the engines that can be built; nothing if none can.
using TakeEngine = std::function<std::optional<Choice>(CudnnEngines&, const ConvolutionGraph&)>;

/// Returns the engine for a graph on a GPU, selected by `take`, or the reason why there is none, in
/// which a fault takes precedence over "unsupported". Throws DeviceLost and OutOfMemory.
[[nodiscard]] EngineSearch search_engine(const CudnnTarget& target, ConvolutionGraph graph,
                                         std::size_t max_workspace, const TakeEngine& take);

/// Cache of a device's engines by graph. Many layers of a model and of the cases of a sweep are
/// equal, and querying engines takes tens of milliseconds. Results with a fault, or from incomplete
/// heuristics, are not cached.
class EngineChoices {
 public:
  /// Returns the cached search of a key, or the result of `make`. The reference is valid until the
  /// next call.
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
      1024;  // several times the number of layers of all models at all micro-batch sizes
  BoundedCache<std::string, EngineSearch> searches_{max_searches};
  EngineSearch passing_ = CudnnFailure{};  // last result of `get` that was not cached
};

class ConvolutionEngine {
 public:
  /// Returns cuDNN's engine for the graph, or the equivalent product (pointwise_product.h) if the
  /// device tunes and the product is faster; nothing if cuDNN has no engine. If cuDNN had a fault
  /// and `faults` is empty, sets it to a text that callers append to the name of the kernel.
  [[nodiscard]] static std::optional<ConvolutionEngine> find(CudaDevice& device,
                                                             const ConvolutionGraph& graph,
                                                             std::string& faults);

  /// Returns the direct kernel, which supports every shape, in f32 and bf16.
  [[nodiscard]] static ConvolutionEngine direct(const ConvolutionGraph& graph) {
    return {graph, std::nullopt, ChosenBy::library};
  }

  [[nodiscard]] const ConvolutionGraph& graph() const { return graph_; }
  [[nodiscard]] std::size_t workspace_bytes() const;
  /// Returns the name for reports: "cuDNN eng36_k2=7_…", "cuBLASLt algorithm … on the source",
  /// "CUDA kernel, direct".
  [[nodiscard]] std::string name() const;
  [[nodiscard]] ChosenBy chosen_by() const { return chosen_by_; }
  /// Returns whether it was chosen from a complete list of cuDNN's engines.
  [[nodiscard]] bool is_lasting() const { return lasting_; }

  /// Enqueues the pass. Tensors are in the order of the operation's arguments, without those that
  /// the graph lacks.
  void run(CudaStream& stream, std::span<std::byte* const> tensors, std::byte* workspace);

 private:
  ConvolutionEngine(const ConvolutionGraph& graph, std::optional<CudnnPlan> plan, ChosenBy by)
      : graph_(graph), plan_(std::move(plan)), chosen_by_(by) {}

  void take_product_if_faster(CudaDevice& device);

  ConvolutionGraph graph_;
  std::optional<CudnnPlan> plan_;
  std::unique_ptr<Matmul> product_;  // without plan_ and product_, the direct kernel is used
  ChosenBy chosen_by_;
  bool lasting_ = true;
};

}  // namespace parbench::cuda
