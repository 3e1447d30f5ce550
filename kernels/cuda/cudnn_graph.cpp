// Describes convolutions to cuDNN through cudnn-frontend. The only file that includes its headers,
// which take long to compile.
#include "kernels/cuda/cudnn_graph.h"

#define CUDNN_FRONTEND_SKIP_JSON_LIB  // only for writing graphs to files
#include <cudnn_frontend.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/cuda/error.h"
#include "kernels/cuda/layout.h"

namespace parbench::cuda {

namespace fe = cudnn_frontend;

/// Gives its plans away: cudnn-frontend's own `execute` builds maps at every call.
class PlannedGraph final : public fe::graph::Graph {
 public:
  [[nodiscard]] std::size_t plan_count() const { return plans.execution_plans.size(); }
  /// One that has been built; the next one asked for is built anew.
  [[nodiscard]] std::shared_ptr<fe::ExecutionPlan> take_plan(std::size_t index) {
    return std::exchange(plans.execution_plans.at(index), nullptr);
  }
};

namespace {

using TensorPointer = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr std::int64_t full_alignment = 16;  // bytes: the widest loads of cuDNN's kernels

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
/// whose error is beyond that of a sum in f32, round f32 to a type of less range (tensor cores read
/// f32 as TF32 without that), and, for f32 throughout, round its inputs at all.
std::vector<fe::NumericalNote_t> barred(const ConvolutionGraph& graph) {
  std::vector<fe::NumericalNote_t> notes{
      fe::NumericalNote_t::NONDETERMINISTIC, fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION,
      fe::NumericalNote_t::WINOGRAD_TILE_6x6, fe::NumericalNote_t::WINOGRAD_TILE_13x13,
      fe::NumericalNote_t::DOWN_CONVERT_INPUTS};
  if (graph.arithmetic == Arithmetic::f32) notes.push_back(fe::NumericalNote_t::TENSOR_CORE);
  return notes;
}

fe::error_t list_engines(PlannedGraph& graph, cudnnHandle_t handle, const ConvolutionGraph& wanted,
                         std::size_t most_workspace) {
  GraphBuilder(graph, wanted).build();
  if (fe::error_t status = graph.validate(); status.is_bad()) return status;
  if (fe::error_t status = graph.build_operation_graph(handle); status.is_bad()) return status;
  if (fe::error_t status =
          graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
      status.is_bad()) {
    return status;
  }
  graph.deselect_numeric_notes(barred(wanted));
  graph.deselect_workspace_greater_than(static_cast<std::int64_t>(most_workspace));
  return graph.check_support();
}

/// Some of cudnn-frontend's calls throw instead of returning what went wrong.
fe::error_t status_of(const std::function<fe::error_t()>& work) {
  try {
    return work();
  } catch (const fe::cudnnException& error) {
    return {fe::error_code_t::CUDNN_BACKEND_API_FAILED, error.what()};
  }
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

std::size_t workspace_limit(std::size_t device_bytes) {
  constexpr std::size_t gibibyte = std::size_t{1} << 30U;
  return std::min(gibibyte, device_bytes / 16);
}

std::optional<CudnnEngines> CudnnEngines::find(cudnnHandle_t handle, const ConvolutionGraph& wanted,
                                               std::size_t most_workspace) {
  auto graph = std::make_shared<PlannedGraph>();
  const fe::error_t status =
      status_of([&] { return list_engines(*graph, handle, wanted, most_workspace); });
  if (status.is_good()) return CudnnEngines(std::move(graph));
  check_device();
  return std::nullopt;
}

std::size_t CudnnEngines::count() const { return graph_->plan_count(); }

bool CudnnEngines::can_build(std::size_t index) {
  const fe::error_t status =
      status_of([&] { return graph_->build_plan_at_index(static_cast<std::int64_t>(index)); });
  if (status.is_bad()) check_device();
  return status.is_good();
}

std::optional<CudnnPlan> CudnnEngines::build(std::size_t index) {
  if (!can_build(index)) return std::nullopt;
  const std::shared_ptr<fe::ExecutionPlan> plan = graph_->take_plan(index);
  return CudnnPlan(plan, plan->get_raw_desc(), static_cast<std::size_t>(plan->getWorkspaceSize()),
                   engine_name(*plan));
}

std::optional<std::size_t> CudnnEngines::first() {
  for (std::size_t index = 0; index < count(); ++index) {
    if (can_build(index)) return index;
  }
  return std::nullopt;
}

void CudnnPlan::run(cudnnHandle_t handle, std::span<std::byte* const> addresses,
                    std::byte* workspace) {
  Addresses key{};
  std::ranges::copy(addresses, key.begin());
  key.back() = workspace;
  const VariantPack& pack = packs_.get(key, [&] { return make_pack(key, addresses.size()); });
  PARBENCH_CUDA(cudnnBackendExecute(handle, plan_, pack.get()));
}

/// A finished descriptor cannot be changed, so other addresses take another one.
CudnnPlan::VariantPack CudnnPlan::make_pack(const Addresses& addresses, std::size_t tensors) {
  cudnnBackendDescriptor_t made = nullptr;
  PARBENCH_CUDA(cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &made));
  VariantPack pack(made);
  constexpr std::array<std::int64_t, max_tensors> numbers{1, 2, 3, 4};  // as GraphBuilder counts
  set(made, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &addresses.back());
  set(made, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, tensors, addresses.data());
  set(made, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, tensors, numbers.data());
  PARBENCH_CUDA(cudnnBackendFinalize(made));
  return pack;
}

}  // namespace parbench::cuda
