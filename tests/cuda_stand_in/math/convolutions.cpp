// Takes the place of kernels/cuda/cudnn/cudnn_graph.cpp, the engine seam: convolutions by plain
// loops. As with cuDNN, weight gradients of bf16 in f32 have no engine. Those of strides or groups
// have none either, so that what computes them otherwise runs too.
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/cudnn/cudnn_graph.h"
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

using emulation::element;
using emulation::set_element;

std::vector<float> values_of(const std::byte* tensor, const Shape& shape, DType dtype) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = element(tensor, dtype, static_cast<std::int64_t>(i));
  }
  return values;
}

/// Calls `visit` with the places of the source, the weights and the destination of each product.
template <class Visit>
void for_each_product(const ConvolutionShape& s, const Visit& visit) {
  const std::int64_t group_in = s.in_channels / s.groups;
  const std::int64_t group_out = s.out_channels / s.groups;
  const std::int64_t taps = s.kernel * s.kernel;
  for (std::int64_t pixel = 0; pixel < s.batch * s.out_height() * s.out_width(); ++pixel) {
    const std::int64_t image = pixel / (s.out_height() * s.out_width());
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t y = pixel / s.out_width() % s.out_height() * s.stride - s.padding +
                             tap / s.kernel * s.dilation;
      const std::int64_t x =
          pixel % s.out_width() * s.stride - s.padding + tap % s.kernel * s.dilation;
      if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
      for (std::int64_t out = 0; out < s.out_channels; ++out) {
        const std::int64_t source =
            ((image * s.height + y) * s.width + x) * s.in_channels + out / group_out * group_in;
        for (std::int64_t in = 0; in < group_in; ++in) {
          visit(static_cast<std::size_t>(source + in),
                static_cast<std::size_t>((out * taps + tap) * group_in + in),
                static_cast<std::size_t>(pixel * s.out_channels + out));
        }
      }
    }
  }
}

struct Tensors {
  std::array<std::byte*, CudnnPlan::max_tensors> at{};
  std::size_t count = 0;
};

void convolve(const ConvolutionGraph& graph, const Tensors& tensors) {
  const ConvolutionShape& shape = graph.shape;
  const auto read = [&](std::size_t i, const Shape& of) {
    return values_of(tensors.at.at(i), of, graph.dtype);
  };
  const auto zeros = [](const Shape& of) {
    return std::vector<double>(static_cast<std::size_t>(element_count(of)));
  };
  std::vector<double> result;  // long sums of f32 in one go would be less exact than any library's
  if (graph.pass == ConvolutionPass::forward) {
    const auto source = read(0, shape.source());
    const auto weights = read(1, shape.weights());
    result = zeros(shape.destination());
    for_each_product(shape, [&](std::size_t x, std::size_t w, std::size_t y) {
      result[y] += double{source[x]} * weights[w];
    });
  } else if (graph.pass == ConvolutionPass::backward_data) {
    const auto destination = read(0, shape.destination());
    const auto weights = read(1, shape.weights());
    result = zeros(shape.source());
    for_each_product(shape, [&](std::size_t x, std::size_t w, std::size_t y) {
      result[x] += double{destination[y]} * weights[w];
    });
  } else {
    const auto source = read(0, shape.source());
    const auto destination = read(1, shape.destination());
    result = zeros(shape.weights());
    for_each_product(shape, [&](std::size_t x, std::size_t w, std::size_t y) {
      result[w] += double{source[x]} * destination[y];
    });
  }
  const bool is_gradient = graph.pass == ConvolutionPass::backward_weights;
  for (std::size_t i = 0; i < result.size(); ++i) {
    auto value = static_cast<float>(result[i]);
    if (graph.bias) {
      const auto channel = static_cast<std::int64_t>(i) % shape.out_channels;
      value += element(tensors.at[2], DType::f32, channel);
    }
    set_element(tensors.at.at(tensors.count - 1), is_gradient ? graph.gradient : graph.dtype,
                static_cast<std::int64_t>(i), value);
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
    const stand_in::Call call("cuDNN's heuristics", {target.handle});
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
  Tensors tensors{.count = addresses.size()};
  std::ranges::copy(addresses, tensors.at.begin());
  for (const std::byte* address : addresses) {
    stand_in::check_device_memory("cudnnBackendExecute", handle->device, address, 1);
  }
  stand_in::check_device_memory("cudnnBackendExecute", handle->device, workspace, workspace_bytes_);
  const auto convolve_all = [graph = *static_cast<const ConvolutionGraph*>(plan_), tensors,
                             workspace, bytes = workspace_bytes_] {
    std::fill_n(workspace, bytes, std::byte{0xFF});  // nothing may be kept in it
    convolve(graph, tensors);
  };
  PARBENCH_CUDA(stand_in::launch(handle->stream, convolve_all, __func__));
}

}  // namespace parbench::cuda
