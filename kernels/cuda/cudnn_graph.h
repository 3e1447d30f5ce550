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

#include "kernels/ops.h"

namespace parbench::cuda {

enum class ConvolutionPass { forward, backward_data, backward_weights };

/// Which engines may compute.
enum class Arithmetic {
  f32,          // f32 throughout: no tensor cores, no conversion of inputs
  tensor_cores  // whatever multiplies the inputs' type fastest (TF32 for f32), sums in f32
};

/// What a graph computes. All tensors have their channels innermost. Inputs and result are `dtype`,
/// but for f32 weight gradients and f32 bias.
struct ConvolutionGraph {
  ConvolutionPass pass = ConvolutionPass::forward;
  ConvolutionShape shape;
  DType dtype = DType::f32;
  Arithmetic arithmetic = Arithmetic::f32;
  bool bias = false;  // forward: an addition behind the convolution, in the same kernel

  /// Whether activations always begin at a multiple of 16 bytes. Otherwise they may begin at any
  /// image of a batch that does, and where images have odd sizes fewer engines take that.
  bool aligned_images = false;
};

/// A graph with its engine. Tensors are in the order of the operation's arguments (ops.h), without
/// those that the graph does not have.
class CudnnPlan {
 public:
  CudnnPlan(std::shared_ptr<void> owner, cudnnBackendDescriptor_t plan, std::size_t workspace_bytes,
            std::string engine)
      : owner_(std::move(owner)),
        plan_(plan),
        workspace_bytes_(workspace_bytes),
        engine_(std::move(engine)) {}

  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// cuDNN's name of the engine with its settings: "eng36_k2=7_…".
  [[nodiscard]] const std::string& engine() const { return engine_; }

  /// Enqueues it on the handle's stream. The addresses of the last run are kept, so that a run on
  /// the same memory costs one call.
  void run(cudnnHandle_t handle, std::span<std::byte* const> addresses, std::byte* workspace);

  static constexpr std::size_t max_tensors = 4;

 private:
  struct Destroy {
    void operator()(cudnnBackendDescriptor_t descriptor) const {
      (void)cudnnBackendDestroyDescriptor(descriptor);
    }
  };
  using Addresses = std::array<void*, max_tensors + 1>;  // the workspace is the last

  void point(const Addresses& addresses, std::size_t tensors);

  std::shared_ptr<void> owner_;  // of plan_
  cudnnBackendDescriptor_t plan_ = nullptr;
  std::size_t workspace_bytes_ = 0;
  std::string engine_;
  std::unique_ptr<void, Destroy> variant_pack_;  // what cuDNN calls the addresses of a run
  Addresses addresses_{};
};

/// The engine that cuDNN's heuristics hold for the fastest among those that compute the same bits
/// at every run. Nothing, with cuDNN's words in `reason`, when it has none. `handle`: of the device
/// that is current.
[[nodiscard]] std::optional<CudnnPlan> find_plan(cudnnHandle_t handle,
                                                 const ConvolutionGraph& graph,
                                                 std::string& reason);

}  // namespace parbench::cuda
