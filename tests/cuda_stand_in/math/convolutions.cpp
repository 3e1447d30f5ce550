// Takes the place of kernels/cuda/cudnn/cudnn_graph.cpp, the engine seam: convolutions by the
// project's direct kernels and plain loops. As with cuDNN, weight gradients of bf16 in f32 have no
// engine. Those of strides or groups have none either, so that what computes them otherwise runs
// too.
#include <algorithm>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/cudnn/cudnn_graph.h"
#include "kernels/cuda/device_code/channel_kernels.h"
#include "kernels/cuda/device_code/convolutions/direct_convolution.h"
#include "kernels/cuda/runtime/error.h"
#include "tests/cuda_emulation/elements.h"
#include "tests/cuda_stand_in/math/dnn.h"
#include "tests/cuda_stand_in/stand_in.h"

namespace parbench::cuda {

/// Two engines: the second needs a workspace.
class PlannedGraph {
 public:
  ConvolutionGraph wanted;
  std::size_t max_workspace = 0;
  std::string fault;

  [[nodiscard]] std::size_t workspace_of(std::size_t index) const { return index * 4096; }
};

namespace {

/// The gradient of weights by plain loops, which take a tenth of the time of a grid with barriers.
void sum_gradient(const ConvolutionGraph& graph, const std::byte* source,
                  const std::byte* diff_destination, std::byte* gradient) {
  const ConvolutionShape& s = graph.shape;
  const std::int64_t inputs = s.in_channels / s.groups;
  const std::int64_t taps = s.kernel * s.kernel;
  const std::int64_t image = s.out_height() * s.out_width();
  std::vector<double> sums(static_cast<std::size_t>(s.out_channels * taps * inputs));
  for (std::int64_t at = 0; at < s.batch * image * taps; ++at) {
    const std::int64_t pixel = at / taps;
    const std::int64_t tap = at % taps;
    const std::int64_t y =
        pixel % image / s.out_width() * s.stride - s.padding + tap / s.kernel * s.dilation;
    const std::int64_t x =
        pixel % s.out_width() * s.stride - s.padding + tap % s.kernel * s.dilation;
    if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
    const std::int64_t first = ((pixel / image * s.height + y) * s.width + x) * s.in_channels;
    for (std::int64_t out = 0; out < s.out_channels; ++out) {
      const std::int64_t group = out / (s.out_channels / s.groups);
      const double factor =
          emulation::element(diff_destination, graph.dtype, pixel * s.out_channels + out);
      double* sum = &sums[static_cast<std::size_t>((out * taps + tap) * inputs)];
      for (std::int64_t in = 0; in < inputs; ++in) {
        sum[in] += factor * emulation::element(source, graph.dtype, first + group * inputs + in);
      }
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    emulation::set_element(gradient, graph.gradient, static_cast<std::int64_t>(i),
                           static_cast<float>(sums[i]));
  }
}

}  // namespace

CudnnTarget target_of(std::string_view /*properties*/) {
  throw Unsupported("GPUs by their properties are not in the stand-in");
}

std::string frontend_version() { return "stand-in"; }

std::size_t workspace_limit(std::size_t device_bytes) {
  return std::min(std::size_t{1} << 30U, device_bytes / 16);
}

std::variant<CudnnEngines, CudnnFailure> CudnnEngines::find(const CudnnTarget& target,
                                                            const ConvolutionGraph& graph,
                                                            std::size_t max_workspace) {
  {
    const stand_in::Call call("cuDNN's heuristics");
    call.check(target.handle);
    if (target.handle->device != stand_in::current_context()->device) {
      stand_in::refuse(call.name(), "the handle's device is not current");
    }
  }
  const bool is_gradient = graph.pass == ConvolutionPass::backward_weights;
  const bool is_simple = graph.shape.stride == 1 && graph.shape.groups == 1;
  if (is_gradient && (graph.dtype != graph.gradient || !is_simple)) {
    return CudnnFailure{CudnnFailure::Kind::unsupported, "CUDNN_STATUS_NOT_SUPPORTED: stand-in"};
  }
  auto planned = std::make_shared<PlannedGraph>();
  planned->wanted = graph;
  planned->max_workspace = max_workspace;
  return CudnnEngines(std::move(planned));
}

std::size_t CudnnEngines::count() const { return 2; }

EngineFacts CudnnEngines::facts(std::size_t index) const {
  return {.name = "eng" + std::to_string(index) + "_standin",
          .workspace_bytes = graph_->workspace_of(index),
          .notes = {}};
}

std::optional<CudnnPlan> CudnnEngines::build(std::size_t index) {
  const std::size_t workspace = graph_->workspace_of(index);
  if (workspace > graph_->max_workspace) return std::nullopt;
  auto graph = std::make_shared<ConvolutionGraph>(graph_->wanted);
  return CudnnPlan(graph, graph.get(), workspace, facts(index).name);
}

std::optional<std::size_t> CudnnEngines::first() { return 0; }
const std::string& CudnnEngines::fault() const { return graph_->fault; }
bool CudnnEngines::complete() const { return true; }

void CudnnPlan::run(cudnnHandle_t handle, std::span<std::byte* const> addresses,
                    std::byte* workspace) {
  const auto& graph = *static_cast<const ConvolutionGraph*>(plan_);
  for (const std::byte* address : addresses) {
    stand_in::check_device_memory("cudnnBackendExecute", address, 1);
  }
  stand_in::check_device_memory("cudnnBackendExecute", workspace, workspace_bytes_);
  const auto spoil = [workspace, bytes = workspace_bytes_] {
    std::fill_n(workspace, bytes, std::byte{0xFF});  // nothing may be kept in it
  };
  PARBENCH_CUDA(stand_in::launch(handle->stream, spoil, __func__));
  std::byte* result = addresses.back();
  if (graph.pass == ConvolutionPass::backward_weights) {
    const auto sum = [graph, from = addresses[0], diff = addresses[1], result] {
      sum_gradient(graph, from, diff, result);
    };
    PARBENCH_CUDA(stand_in::launch(handle->stream, sum, "the gradient of weights"));
    return;
  }
  convolve_directly(graph.pass, graph.shape, graph.dtype,
                    std::array{addresses[0], addresses[1], result}, handle->stream);
  if (!graph.bias) return;
  const ConvolutionShape& shape = graph.shape;
  add_bias(result, reinterpret_cast<const float*>(addresses[2]),
           {shape.batch * shape.out_height() * shape.out_width(), shape.out_channels, graph.dtype},
           handle->stream);
}

}  // namespace parbench::cuda
