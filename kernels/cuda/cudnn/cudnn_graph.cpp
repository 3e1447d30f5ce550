// Describes convolutions to cuDNN through cudnn-frontend. No other file includes its headers, which
// take long to compile.
#include "kernels/cuda/cudnn/cudnn_graph.h"

#define CUDNN_FRONTEND_SKIP_JSON_LIB  // JSON is only needed for writing graphs to files
#include <cudnn_frontend.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/ops/layout.h"
#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {

namespace fe = cudnn_frontend;

/// An engine with its settings, as the heuristics propose it.
struct ProposedEngine {
  fe::ManagedOpaqueDescriptor configuration;
  std::vector<fe::NumericalNote_t> numerical_notes;
  std::vector<fe::BehaviorNote_t> behavior_notes;
  bool barred = false;
};

/// A graph whose engines are queried and built by cudnn-frontend's low-level calls
/// (get_heuristics_list, ExecutionPlanBuilder). The methods of fe::graph::Graph for this drop the
/// status of a failure, which distinguishes a graph without an engine from a library that cannot be
/// loaded.
class PlannedGraph final : public fe::graph::Graph {
 public:
  /// Validates the graph and describes it to cuDNN. Throws cudnnException.
  void finish(const CudnnTarget& target);
  /// Fills `engines` and `fault`. Throws cudnnException if the heuristics propose no engine, or if
  /// the engines' properties cannot be queried.
  void ask_heuristics();

  std::vector<ProposedEngine> engines;
  std::string fault;  // failure of one part of the heuristics if another part has engines
};

namespace {

using TensorPointer = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr std::int64_t full_alignment = 16;  // in bytes: the widest loads of cuDNN's kernels

fe::DataType_t data_type_of(DType dtype) {
  return dtype == DType::bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::FLOAT;
}

/// Returns the largest power of two that divides the bytes of an image, up to the alignment that
/// kernels can use.
std::int64_t image_alignment(const Shape& shape, DType dtype) {
  const std::int64_t bytes =
      shape[1] * shape[2] * shape[3] * static_cast<std::int64_t>(size_of(dtype));
  return std::min(bytes & -bytes, full_alignment);
}

/// Adds the tensors and operations of a convolution to a graph. Tensors are numbered from 1 in the
/// order in which they are added, which is the order of the addresses in CudnnPlan::run.
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
           weights(wanted_.gradient));
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
  /// cuDNN derives the number of groups: the source's channels divided by those of the weights.
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
        .set_dilation({s.dilation, s.dilation});
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

/// Returns the notes that exclude an engine: results that differ between runs, sums in less than
/// f32, Winograd transforms in tiles so large that their error exceeds the error of sums in f32,
/// and rounding of f32 inputs to a type of smaller range (which does not mean TF32). For f32
/// throughout also tensor cores, which round f32 inputs to TF32.
std::vector<fe::NumericalNote_t> barred(const ConvolutionGraph& graph) {
  std::vector<fe::NumericalNote_t> notes{
      fe::NumericalNote_t::NONDETERMINISTIC, fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION,
      fe::NumericalNote_t::WINOGRAD_TILE_6x6, fe::NumericalNote_t::WINOGRAD_TILE_13x13,
      fe::NumericalNote_t::DOWN_CONVERT_INPUTS};
  if (graph.arithmetic == Arithmetic::f32) notes.push_back(fe::NumericalNote_t::TENSOR_CORE);
  return notes;
}

std::size_t workspace_of(const ProposedEngine& engine) {
  fe::ManagedOpaqueDescriptor configuration = engine.configuration;
  std::int64_t bytes = 0;
  const fe::error_t status = fe::detail::get_workspace_size(configuration, bytes);
  return status.is_good() ? static_cast<std::size_t>(bytes) : SIZE_MAX;
}

bool is_barred(const ProposedEngine& engine, std::span<const fe::NumericalNote_t> barred,
               std::size_t max_workspace) {
  const auto has = [&](fe::NumericalNote_t note) {
    return std::ranges::find(engine.numerical_notes, note) != engine.numerical_notes.end();
  };
  return std::ranges::any_of(barred, has) || workspace_of(engine) > max_workspace;
}

/// Returns cuDNN's message for its last failure in this thread.
std::string last_words() {
  std::vector<char> words(std::size_t{1} << 16U);
  cudnnGetLastErrorString(words.data(), words.size());
  return words.data();
}

void throw_if_bad(fe::error_t error) {
  if (error.is_good()) return;
  const std::string words = error.get_message();
  const bool unsupported = error.get_code() == fe::error_code_t::GRAPH_NOT_SUPPORTED ||
                           words.find("CUDNN_STATUS_NOT_SUPPORTED") != std::string::npos;
  throw fe::cudnnException(words.c_str(),
                           unsupported ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_BAD_PARAM);
}

/// Returns cudnn-frontend's tag of an engine without leading underscores: "eng36_k2=7_…".
std::string name_of(const ProposedEngine& engine) {
  const std::string tag = fe::detail::get_engine_tag(engine.configuration);
  return tag.substr(std::min(tag.find_first_not_of('_'), tag.size()));
}

/// Returns the failure if the caller can continue with another kernel. Throws DeviceLost if the
/// device is lost, and OutOfMemory for a lack of memory. `what`: beginning of their messages.
CudnnFailure answerable(const fe::cudnnException& error, const std::string& what) {
  CudnnFailure failure = classify(error.error_status, error.what());
  const std::string text = what + ": " + failure.text;
  check_not_lost(text);
  if (failure.kind == CudnnFailure::Kind::out_of_memory) fail_for_memory(text);
  return failure;
}

std::string text_of(fe::NumericalNote_t note) {
  switch (note) {
    case fe::NumericalNote_t::TENSOR_CORE:
      return "tensor core";
    case fe::NumericalNote_t::DOWN_CONVERT_INPUTS:
      return "down-converts inputs";
    case fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION:
      return "reduced-precision sums";
    case fe::NumericalNote_t::FFT:
      return "FFT";
    case fe::NumericalNote_t::NONDETERMINISTIC:
      return "nondeterministic";
    case fe::NumericalNote_t::WINOGRAD:
      return "Winograd";
    case fe::NumericalNote_t::WINOGRAD_TILE_4x4:
      return "Winograd 4x4";
    case fe::NumericalNote_t::WINOGRAD_TILE_6x6:
      return "Winograd 6x6";
    case fe::NumericalNote_t::WINOGRAD_TILE_13x13:
      return "Winograd 13x13";
    case fe::NumericalNote_t::STRICT_NAN_PROP:
      return "strict NaN propagation";
    case fe::NumericalNote_t::NOT_SET:
      break;
  }
  return "";
}

std::string text_of(fe::BehaviorNote_t note) {
  switch (note) {
    case fe::BehaviorNote_t::RUNTIME_COMPILATION:
      return "compiled at run time";
    case fe::BehaviorNote_t::REQUIRES_FILTER_INT8x32_REORDER:
      return "reorders int8 weights";
    case fe::BehaviorNote_t::REQUIRES_BIAS_INT8x32_REORDER:
      return "reorders int8 bias";
    case fe::BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API:
      return "native CUDA graph";
    case fe::BehaviorNote_t::CUBLASLT_DEPENDENCY:
      return "uses cuBLASLt";
    case fe::BehaviorNote_t::NOT_SET:
      break;
  }
  return "";
}

/// Appends the texts of notes, without the empty note that cudnn-frontend inserts before each note.
template <class Note>
void add_texts(std::vector<std::string>& texts, const std::vector<Note>& notes) {
  for (const Note note : notes) {
    if (note != Note::NOT_SET) texts.push_back(text_of(note));
  }
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

CudnnTarget target_of(std::string_view properties) {
  auto described = std::make_shared<fe::DeviceProperties>();
  fe::error_t status = described->deserialize({properties.begin(), properties.end()});
  if (status.is_bad()) throw Error("cuDNN refuses device properties: " + status.get_message());
  return {.handle = nullptr, .properties = std::move(described)};
}

std::string frontend_version() {
  constexpr int number = CUDNN_FRONTEND_VERSION;
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

void PlannedGraph::finish(const CudnnTarget& target) {
  if (target.properties) set_device_properties(target.properties);
  throw_if_bad(validate());
  throw_if_bad(build_operation_graph(target.handle));
}

void PlannedGraph::ask_heuristics() {
  fe::EngineConfigList configurations;
  const std::vector<cudnnStatus_t> statuses = fe::get_heuristics_list(
      std::vector{fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}, *operation_graph,
      fe::allowAllConfig, configurations, true, -1, device_properties);
  if (configurations.empty()) {
    const auto bad = std::ranges::find_if(
        statuses, [](cudnnStatus_t status) { return status != CUDNN_STATUS_SUCCESS; });
    throw fe::cudnnException(last_words().c_str(),
                             bad == statuses.end() ? CUDNN_STATUS_NOT_SUPPORTED : *bad);
  }
  if (std::string text = first_fault(statuses); !text.empty()) {
    fault = "heuristics: " + std::move(text);
  }
  plans.enqueue_engine_configs(configurations);
  throw_if_bad(plans.query_properties());
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    engines.push_back({configurations[i], plans.numeric_notes.at(i), plans.behavior_notes.at(i)});
  }
}

std::variant<CudnnEngines, CudnnFailure> CudnnEngines::find(const CudnnTarget& target,
                                                            const ConvolutionGraph& wanted,
                                                            std::size_t max_workspace) {
  auto graph = std::make_shared<PlannedGraph>();
  try {
    GraphBuilder(*graph, wanted).build();
    graph->finish(target);
    graph->ask_heuristics();
  } catch (const fe::cudnnException& error) {
    return answerable(error, "cuDNN found no engine for a convolution");
  }
  const std::vector<fe::NumericalNote_t> notes = barred(wanted);
  for (ProposedEngine& engine : graph->engines) {
    engine.barred = is_barred(engine, notes, max_workspace);
  }
  return CudnnEngines(std::move(graph));
}

std::size_t CudnnEngines::count() const { return graph_->engines.size(); }

EngineFacts CudnnEngines::facts(std::size_t index) const {
  const ProposedEngine& engine = graph_->engines.at(index);
  EngineFacts facts{.name = name_of(engine), .workspace_bytes = workspace_of(engine), .notes = {}};
  add_texts(facts.notes, engine.numerical_notes);
  add_texts(facts.notes, engine.behavior_notes);
  return facts;
}

std::optional<CudnnPlan> CudnnEngines::build(std::size_t index) {
  const ProposedEngine& engine = graph_->engines.at(index);
  if (engine.barred) return std::nullopt;
  try {
    auto plan = std::make_shared<fe::ExecutionPlan>(
        fe::ExecutionPlanBuilder().setEngineConfig(engine.configuration, "").build());
    return CudnnPlan(plan, plan->get_raw_desc(), static_cast<std::size_t>(plan->getWorkspaceSize()),
                     name_of(engine));
  } catch (const fe::cudnnException& error) {
    const std::string what = "cuDNN " + name_of(engine);
    const CudnnFailure failure = answerable(error, what);
    if (failure.kind == CudnnFailure::Kind::fault && fault_.empty()) {
      fault_ = what + ": " + failure.text;
    }
    return std::nullopt;
  }
}

const std::string& CudnnEngines::fault() const { return fault_.empty() ? graph_->fault : fault_; }

bool CudnnEngines::complete() const { return graph_->fault.empty(); }

std::optional<std::size_t> CudnnEngines::first() {
  for (std::size_t index = 0; index < count(); ++index) {
    if (build(index)) return index;
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

/// Makes a descriptor of these addresses. A finalised descriptor cannot be changed, so other
/// addresses need a new one.
CudnnPlan::VariantPack CudnnPlan::make_pack(const Addresses& addresses, std::size_t tensors) {
  cudnnBackendDescriptor_t made = nullptr;
  PARBENCH_CUDA(cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &made));
  VariantPack pack(made);
  constexpr std::array<std::int64_t, max_tensors> numbers{1, 2, 3, 4};  // numbering of GraphBuilder
  set(made, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &addresses.back());
  set(made, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, tensors, addresses.data());
  set(made, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, tensors, numbers.data());
  PARBENCH_CUDA(cudnnBackendFinalize(made));
  return pack;
}

}  // namespace parbench::cuda
