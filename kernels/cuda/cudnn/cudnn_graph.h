// One pass of a convolution as a cuDNN graph: described, given an engine, ready to run.
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

/// The GPU that engines are for: that of a handle, or one of which only the properties are known.
/// Plans for the latter can be built without a GPU, and not run.
struct CudnnTarget {
  cudnnHandle_t handle = nullptr;  // of the device that is current; outlives engines and plans
  std::shared_ptr<const cudnn_frontend::DeviceProperties> properties = nullptr;
};

/// A GPU by its properties, a JSON object as cuDNN writes it (CUDNN_ATTR_DEVICEPROP_JSON_…). Throws
/// Error where cuDNN does not accept it.
[[nodiscard]] CudnnTarget target_of(std::string_view properties);

/// cudnn-frontend's, "1.18.0": it puts engines into their order.
[[nodiscard]] std::string frontend_version();

/// The most workspace that is worth an engine on a device with that much memory: 1 GiB, but no more
/// than a sixteenth of the memory. Every stream that runs the operation holds it.
[[nodiscard]] std::size_t workspace_limit(std::size_t device_bytes);

/// A graph with its engine. Tensors are in the order of the operation's arguments (ops.h), without
/// those that the graph does not have.
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
  /// cuDNN's name of the engine with its settings: "eng36_k2=7_…".
  [[nodiscard]] const std::string& engine() const { return engine_; }

  /// Enqueues it on the handle's stream. Addresses of earlier runs are kept, so that a run on the
  /// same memory makes nothing and costs one call.
  void run(cudnnHandle_t handle, std::span<std::byte* const> addresses, std::byte* workspace);

  static constexpr std::size_t max_tensors = 4;

 private:
  struct Destroy {
    void operator()(cudnnBackendDescriptor_t descriptor) const {
      (void)cudnnBackendDestroyDescriptor(descriptor);
    }
  };
  using Addresses = std::array<void*, max_tensors + 1>;  // the workspace is the last
  using VariantPack = std::unique_ptr<void, Destroy>;    // what cuDNN calls the addresses of a run

  /// Several times the micro-batches that a batch is ever divided into.
  static constexpr std::size_t max_packs = 512;

  static VariantPack make_pack(const Addresses& addresses, std::size_t tensors);

  std::shared_ptr<void> owner_;  // of plan_
  cudnnBackendDescriptor_t plan_ = nullptr;
  std::size_t workspace_bytes_ = 0;
  std::string engine_;
  BoundedCache<Addresses, VariantPack> packs_;
};

/// What is known of an engine before a plan is built for it.
struct EngineFacts {
  std::string name;  // "eng36_k2=7_…"
  std::size_t workspace_bytes = 0;
  std::vector<std::string> notes;  // cuDNN's numerical and behaviour notes: "tensor core", …
};

class PlannedGraph;

/// cuDNN's engines for a graph, the one first that its heuristics hold for the fastest. Only those
/// count that compute the same bits at every run, keep to the arithmetic and to the workspace.
class CudnnEngines {
 public:
  /// The engines, or why there are none. Throws DeviceLost, and OutOfMemory where memory is short.
  [[nodiscard]] static std::variant<CudnnEngines, CudnnFailure> find(const CudnnTarget& target,
                                                                     const ConvolutionGraph& graph,
                                                                     std::size_t max_workspace);

  /// Places in the heuristics' order, those of barred engines included.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] EngineFacts facts(std::size_t index) const;

  /// Makes one ready to run, a plan of its own at every call: cuDNN does not promise of all engines
  /// that two threads can run one plan. Nothing for one that does not count or cannot be built;
  /// throws as `find` does.
  [[nodiscard]] std::optional<CudnnPlan> build(std::size_t index);

  /// The first that can be built.
  [[nodiscard]] std::optional<std::size_t> first();

  /// What the first engine failed with that cuDNN offered and could not build for another reason
  /// than that it does not support the graph, or else what a part of the heuristics failed with;
  /// empty where there was neither.
  [[nodiscard]] const std::string& fault() const;

  /// Whether all parts of the heuristics answered. Otherwise engines are missing that another call
  /// may find.
  [[nodiscard]] bool complete() const;

 private:
  explicit CudnnEngines(std::shared_ptr<PlannedGraph> graph) : graph_(std::move(graph)) {}

  std::shared_ptr<PlannedGraph> graph_;
  std::string fault_;
};

}  // namespace parbench::cuda
