// Describes convolutions to cuDNN through cudnn-frontend. The only file that includes its headers,
// which take long to compile.
#include "kernels/cuda/cudnn_graph.h"

#define CUDNN_FRONTEND_SKIP_JSON_LIB  // only for writing graphs to files
#include <cudnn_frontend.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/cuda/error.h"
#include "kernels/cuda/layout.h"

namespace parbench::cuda {
namespace {

namespace fe = cudnn_frontend;

using TensorPointer = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr std::int64_t full_alignment = 16;  // bytes: the widest loads of cuDNN's kernels

/// Lends out the plan that it chose: cudnn-frontend's own `execute` builds maps at every call.
class PlannedGraph final : public fe::graph::Graph {
 public:
  [[nodiscard]] std::shared_ptr<fe::ExecutionPlan> chosen() const {
    return plans.execution_plans.at(static_cast<std::size_t>(plans.candidate));
  }
};

fe::DataType_t data_type_of(DType dtype) {
  return dtype == DType::bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::FLOAT;
}

/// The largest power of two that divides the bytes of an image, up to what kernels can use.
std::int64_t image_alignment(const Shape& shape, DType dtype) {
  const std::int64_t bytes =
      shape[1] * shape[2] * shape[3] * static_cast<std::int64_t>(size_of(dtype));
  return std::min(bytes & -bytes, full_alignment);
}

/// Numbers tensors in the order in which they are added: the order of the addresses of a run.
class GraphBuilder {
 public:
  GraphBuilder(PlannedGraph& graph, const ConvolutionGraph& wanted)
      : graph_(graph), wanted_(wanted) {
    graph_.set_compute_data_type(fe::DataType_t::FLOAT)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_io_data_type(data_type_of(wanted.dtype));
  }

  void build() {
    switch (wanted_.pass) {
      case ConvolutionPass::forward:
        return forward();
      case ConvolutionPass::backward_data:
        return backward_data();
      case ConvolutionPass::backward_weights:
        return backward_weights();
    }
  }

 private:
  void forward() {
    const TensorPointer x = input(activation(wanted_.shape.source()));
    const TensorPointer w = input(weights(wanted_.dtype));
    const TensorPointer bias = wanted_.bias ? input(bias_vector()) : nullptr;
    const TensorPointer product =
        graph_.conv_fprop(x, w, attributes<fe::graph::Conv_fprop_attributes>());
    if (!bias) return output(product, activation(wanted_.shape.destination()));
    describe(*product, activation(wanted_.shape.destination()));
    product->set_data_type(fe::DataType_t::FLOAT);
    output(graph_.pointwise(product, bias,
                            fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD)),
           activation(wanted_.shape.destination()));
  }

  void backward_data() {
    const TensorPointer dy = input(activation(wanted_.shape.destination()));
    const TensorPointer w = input(weights(wanted_.dtype));
    output(graph_.conv_dgrad(dy, w, attributes<fe::graph::Conv_dgrad_attributes>()),
           activation(wanted_.shape.source()));
  }

  void backward_weights() {
    const TensorPointer x = input(activation(wanted_.shape.source()));
    const TensorPointer dy = input(activation(wanted_.shape.destination()));
    output(graph_.conv_wgrad(dy, x, attributes<fe::graph::Conv_wgrad_attributes>()),
           weights(DType::f32));
  }

  struct Description {
    Shape shape;
    DType dtype;
    std::int64_t alignment;
  };

  [[nodiscard]] Description activation(const Shape& shape) const {
    return {shape, wanted_.dtype,
            wanted_.aligned_images ? full_alignment : image_alignment(shape, wanted_.dtype)};
  }
  /// cuDNN tells groups by the channels: the weights have fewer than the source.
  [[nodiscard]] Description weights(DType dtype) const {
    const ConvolutionShape& s = wanted_.shape;
    return {{s.out_channels, s.in_channels / s.groups, s.kernel, s.kernel}, dtype, full_alignment};
  }
  [[nodiscard]] Description bias_vector() const {
    return {{1, wanted_.shape.out_channels, 1, 1}, DType::f32, full_alignment};
  }

  template <class Attributes>
  [[nodiscard]] Attributes attributes() const {
    const ConvolutionShape& s = wanted_.shape;
    return Attributes()
        .set_padding({s.padding, s.padding})
        .set_stride({s.stride, s.stride})
        .set_dilation({1, 1});
  }

  static void describe(fe::graph::Tensor_attributes& tensor, const Description& as) {
    tensor.set_dim(as.shape)
        .set_stride(strides_of(channels_last(as.shape, as.dtype)))
        .set_data_type(data_type_of(as.dtype))
        .set_alignment(as.alignment);
  }

  TensorPointer input(const Description& as) {
    fe::graph::Tensor_attributes tensor;
    describe(tensor, as);
    tensor.set_uid(next_++);
    return graph_.tensor(tensor);
  }

  void output(const TensorPointer& tensor, const Description& as) {
    describe(*tensor, as);
    tensor->set_output(true).set_uid(next_++);
  }

  PlannedGraph& graph_;
  const ConvolutionGraph& wanted_;
  std::int64_t next_ = 1;
};

/// What an engine must not do: differ from run to run, sum in less than f32, transform in tiles
/// whose error is beyond that of a sum in f32, and, for f32, round its inputs.
std::vector<fe::NumericalNote_t> barred(const ConvolutionGraph& graph) {
  std::vector<fe::NumericalNote_t> notes{
      fe::NumericalNote_t::NONDETERMINISTIC, fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION,
      fe::NumericalNote_t::WINOGRAD_TILE_6x6, fe::NumericalNote_t::WINOGRAD_TILE_13x13};
  if (graph.arithmetic == Arithmetic::f32) {
    notes.push_back(fe::NumericalNote_t::TENSOR_CORE);
    notes.push_back(fe::NumericalNote_t::DOWN_CONVERT_INPUTS);
  }
  return notes;
}

/// The candidates stay in the graph in the order of the heuristics: measuring them would go here.
fe::error_t choose(PlannedGraph& graph, cudnnHandle_t handle, const ConvolutionGraph& wanted) {
  if (fe::error_t status = graph.validate(); status.is_bad()) return status;
  if (fe::error_t status = graph.build_operation_graph(handle); status.is_bad()) return status;
  if (fe::error_t status =
          graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
      status.is_bad()) {
    return status;
  }
  graph.deselect_numeric_notes(barred(wanted));
  if (fe::error_t status = graph.check_support(); status.is_bad()) return status;
  return graph.build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE);
}

/// Some of cudnn-frontend's calls throw instead of returning what went wrong.
fe::error_t build(PlannedGraph& graph, cudnnHandle_t handle, const ConvolutionGraph& wanted) {
  try {
    GraphBuilder(graph, wanted).build();
    return choose(graph, handle, wanted);
  } catch (const fe::cudnnException& error) {
    return {fe::error_code_t::CUDNN_BACKEND_API_FAILED, error.what()};
  }
}

/// cuDNN's words without those on each engine and each of its functions: the first lines.
std::string shortened(std::string words) {
  constexpr std::size_t most = 600;
  if (words.size() > most) words = words.substr(0, most) + "…";
  std::ranges::replace(words, '\n', ' ');
  return words;
}

/// cudnn-frontend puts the operations' names first, of which its own graphs have none.
std::string engine_name(const fe::ExecutionPlan& plan) {
  const std::string& tag = plan.getTag();
  return tag.substr(std::min(tag.find_first_not_of('_'), tag.size()));
}

/// A device that is lost must not pass for one without engines; other errors were cuDNN's affair.
void check_device() {
  const cudaError_t left = cudaGetLastError();
  if (is_sticky(left)) PARBENCH_CUDA(left);
}

void set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
         cudnnBackendAttributeType_t type, std::size_t count, const void* values) {
  PARBENCH_CUDA(
      cudnnBackendSetAttribute(descriptor, name, type, static_cast<std::int64_t>(count), values));
}

}  // namespace

std::optional<CudnnPlan> find_plan(cudnnHandle_t handle, const ConvolutionGraph& wanted,
                                   std::string& reason) {
  PlannedGraph graph;
  if (const fe::error_t status = build(graph, handle, wanted); status.is_bad()) {
    check_device();
    reason = shortened(status.err_msg);
    return std::nullopt;
  }
  const std::shared_ptr<fe::ExecutionPlan> plan = graph.chosen();
  return CudnnPlan(plan, plan->get_raw_desc(), static_cast<std::size_t>(plan->getWorkspaceSize()),
                   engine_name(*plan));
}

void CudnnPlan::run(cudnnHandle_t handle, std::span<std::byte* const> addresses,
                    std::byte* workspace) {
  Addresses wanted{};
  std::ranges::copy(addresses, wanted.begin());
  wanted.back() = workspace;
  if (!variant_pack_ || wanted != addresses_) point(wanted, addresses.size());
  PARBENCH_CUDA(cudnnBackendExecute(handle, plan_, variant_pack_.get()));
}

/// A finished descriptor cannot be changed, so other addresses take a new one.
void CudnnPlan::point(const Addresses& addresses, std::size_t tensors) {
  cudnnBackendDescriptor_t made = nullptr;
  PARBENCH_CUDA(cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &made));
  variant_pack_.reset(made);
  addresses_ = {};
  constexpr std::array<std::int64_t, max_tensors> numbers{1, 2, 3, 4};  // as GraphBuilder counts
  set(made, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &addresses.back());
  set(made, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, tensors, addresses.data());
  set(made, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, tensors, numbers.data());
  PARBENCH_CUDA(cudnnBackendFinalize(made));
  addresses_ = addresses;
}

}  // namespace parbench::cuda
