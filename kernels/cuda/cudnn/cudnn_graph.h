// One pass of a convolution as a cuDNN graph: description, choice of an engine, execution.
#pragma once

#include <cudnn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/cuda/cudnn/convolution_graph.h"
#include "kernels/cuda/cudnn/cudnn_failure.h"
#include "kernels/cuda/tuning/bounded_cache.h"

namespace cudnn_frontend {
class DeviceProperties;
}

namespace parbench::cuda {

/// The GPU for which engines are selected: the GPU of a handle, or a GPU of which only the
/// properties are known. Plans for the latter can be built without a GPU, but not run.
struct CudnnTarget {
  cudnnHandle_t handle = nullptr;  // handle of the current device; must outlive engines and plans
  std::shared_ptr<const cudnn_frontend::DeviceProperties> properties = nullptr;
};

/// Returns a target from a GPU's properties, a JSON object as cuDNN writes it
/// (CUDNN_ATTR_DEVICEPROP_JSON_…). Throws Error if cuDNN rejects it.
[[nodiscard]] CudnnTarget target_of(std::string_view properties);

/// Returns the version of cudnn-frontend, "1.18.0", which determines the order of engines.
[[nodiscard]] std::string frontend_version();

/// Returns the maximum workspace of an engine on a device with that much memory: 1 GiB, but at most
/// a sixteenth of the memory. Every stream that runs the operation reserves it.
[[nodiscard]] std::size_t workspace_limit(std::size_t device_bytes);

/// A graph with the engine that computes it. Tensors are in the order of the operation's arguments
/// (ops.h), without those that the graph lacks.
class CudnnPlan {
 public:
  CudnnPlan(std::shared_ptr<void> owner, cudnnBackendDescriptor_t plan, std::size_t workspace_bytes,
            std::string engine)
      : owner_(std::move(owner)),
        plan_(plan),
        workspace_bytes_(workspace_bytes),
        engine_(std::move(engine)),
        packs_(max_packs) {}

  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Returns cuDNN's name of the engine with its settings: "eng36_k2=7_…".
  [[nodiscard]] const std::string& engine() const { return engine_; }

  /// Enqueues the plan on the handle's stream. Descriptors for addresses of earlier runs are kept,
  /// so that a run on the same memory only needs one call.
  void run(cudnnHandle_t handle, std::span<std::byte* const> addresses, std::byte* workspace);

  static constexpr std::size_t max_tensors = 4;

 private:
  struct Destroy {
    void operator()(cudnnBackendDescriptor_t descriptor) const {
      (void)cudnnBackendDestroyDescriptor(descriptor);
    }
  };
  using Addresses = std::array<void*, max_tensors + 1>;  // the last element is the workspace
  // cuDNN's descriptor of the addresses of a run
  using VariantPack = std::unique_ptr<void, Destroy>;

  /// Maximum number of cached descriptors: several times the number of micro-batches of a batch.
  static constexpr std::size_t max_packs = 512;

  static VariantPack make_pack(const Addresses& addresses, std::size_t tensors);

  std::shared_ptr<void> owner_;  // owner of plan_
  cudnnBackendDescriptor_t plan_ = nullptr;
  std::size_t workspace_bytes_ = 0;
  std::string engine_;
  BoundedCache<Addresses, VariantPack> packs_;
};

/// Properties of an engine that are known before a plan is built.
struct EngineFacts {
  std::string name;  // "eng36_k2=7_…"
  std::size_t workspace_bytes = 0;
  std::vector<std::string> notes;  // cuDNN's numerical and behaviour notes: "tensor core", …
};

class PlannedGraph;

/// cuDNN's engines for a graph, in the order of its heuristics, which put the engine first that
/// they expect to be fastest. Engines are excluded if their results differ between runs, or if they
/// violate the arithmetic or the limit of the workspace.
class CudnnEngines {
 public:
  /// Returns the engines, or why there are none. Throws DeviceLost, and OutOfMemory.
  [[nodiscard]] static std::variant<CudnnEngines, CudnnFailure> find(const CudnnTarget& target,
                                                                     const ConvolutionGraph& graph,
                                                                     std::size_t max_workspace);

  /// Returns the number of engines in the heuristics' order, including excluded ones.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] EngineFacts facts(std::size_t index) const;

  /// Builds the plan of an engine, a new one at every call: cuDNN does not guarantee for all
  /// engines that two threads can run one plan. Returns nothing for an engine that is excluded or
  /// cannot be built. Throws as `find` does.
  [[nodiscard]] std::optional<CudnnPlan> build(std::size_t index);

  /// Returns the first engine that can be built.
  [[nodiscard]] std::optional<std::size_t> first();

  /// Returns the first fault in building an engine (lack of support is not a fault); without one,
  /// the fault of a part of the heuristics; empty if there was none.
  [[nodiscard]] const std::string& fault() const;

  /// Returns whether no part of the heuristics had a fault. Otherwise, another call of `find` may
  /// find more engines.
  [[nodiscard]] bool complete() const;

 private:
  explicit CudnnEngines(std::shared_ptr<PlannedGraph> graph) : graph_(std::move(graph)) {}

  std::shared_ptr<PlannedGraph> graph_;
  std::string fault_;
};

}  // namespace parbench::cuda
