// Takes the place of kernels/cuda/cudnn/convolution_engine.h: the direct kernels in place of
// cuDNN's engines. Some graphs have no engine, so that what computes them otherwise is tested.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "kernels/core/op.h"
#include "kernels/cuda/cudnn/convolution_graph.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

class ConvolutionEngine {
 public:
  /// Weight gradients of bf16 have no engine, as in cuDNN, and those with strides or groups
  /// neither.
  [[nodiscard]] static std::optional<ConvolutionEngine> find(CudaDevice& device,
                                                             const ConvolutionGraph& graph,
                                                             std::string& faults);
  [[nodiscard]] static ConvolutionEngine direct(const ConvolutionGraph& graph) {
    return ConvolutionEngine(graph);
  }

  [[nodiscard]] const ConvolutionGraph& graph() const { return graph_; }
  [[nodiscard]] static std::size_t workspace_bytes() { return 0; }
  [[nodiscard]] static std::string name() { return "CUDA kernel, direct"; }
  [[nodiscard]] static ChosenBy chosen_by() { return ChosenBy::library; }
  [[nodiscard]] static bool is_lasting() { return true; }
  void run(CudaStream& stream, std::span<std::byte* const> tensors, std::byte* workspace) const;

 private:
  explicit ConvolutionEngine(const ConvolutionGraph& graph) : graph_(graph) {}

  ConvolutionGraph graph_;
};

}  // namespace parbench::cuda
