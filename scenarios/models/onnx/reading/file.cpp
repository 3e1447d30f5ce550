// Converts protocol buffers to plain data.
#include "scenarios/models/onnx/reading/file.h"

#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/defs/tensor_proto_util.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <istream>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "kernels/base/error.h"
#include "scenarios/models/onnx/reading/limits.h"
#include "scenarios/models/onnx/reading/numbers.h"
#include "scenarios/models/onnx/reading/scopes.h"

namespace parbench::onnx_import {
namespace {

namespace fs = std::filesystem;

/// Throws UsageError with the problem and the remedy.
[[noreturn]] void refuse(const fs::path& path, const std::string& what, const std::string& remedy) {
  throw UsageError(fmt::format("--model '{}' {}\n{}", path.string(), what, remedy));
}

constexpr const char* export_again = "export it again, or check it with onnx.checker.check_model";

/// Maximum size of protocol buffers; larger models keep their weights in separate files.
constexpr std::uintmax_t max_file_bytes = (1ULL << 31U) - 1;

/// Parses a model and checks its limits. `path` is used in messages.
onnx::ModelProto parsed(std::istream& stream, const fs::path& path) {
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&stream) || !model.has_graph()) {
    refuse(path, "is not an ONNX file, is cut off, or nests its parts too deeply", export_again);
  }
  if (const auto limit = exceeded_limit(model)) {
    refuse(path, *limit, "divide the model, or export a part of it");
  }
  return model;
}

/// Calls `read`. Exceptions other than UsageErrors become UsageErrors about the file.
template <class Read>
auto guarded(const fs::path& path, std::string_view what, const char* remedy, Read read) {
  try {
    return read();
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    refuse(path, fmt::format("{}: {}", what, error.what()), remedy);
  }
}

/// Inlines functions, and makes names unique.
void join_scopes_of(onnx::ModelProto& model, const fs::path& path) {
  guarded(path, "cannot be read", export_again, [&] { join_scopes(model); });
}

onnx::ModelProto parsed(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw UsageError(fmt::format("--model '{}': no such file\ncheck the path", path.string()));
  }
  if (fs::file_size(path, error) > max_file_bytes || error) {
    refuse(path, "is larger than 2 GiB", "save its weights as external data");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse(path, "cannot be read", "check its permissions");
  return parsed(stream, path);
}

std::int64_t opset_of(const onnx::ModelProto& model) {
  for (const onnx::OperatorSetIdProto& one : model.opset_import()) {
    if (one.domain().empty() || one.domain() == "ai.onnx") return one.version();
  }
  return 0;
}

/// Returns the text with one blank in place of line breaks and repeated blanks.
std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_blank = c == '\n' || c == ' ';
    if (!is_blank) line += c;
    if (is_blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::string entry_of(const onnx::TensorProto& tensor, std::string_view key) {
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == key) return entry.value();
  }
  return {};
}

/// Checks that the path of external data, as text, leads to a file in the model's folder, because
/// the model may be from an untrusted source. Does not resolve symbolic links.
void check_external(const fs::path& path, const onnx::TensorProto& tensor) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
  const std::string given = entry_of(tensor, "location");
  const fs::path location = fs::path(given).lexically_normal();
  if (location.is_absolute() || location.string().starts_with("..")) {
    refuse(path, fmt::format("stores '{}' outside of its folder, in '{}'", tensor.name(), given),
           "save the weights beside the model");
  }
  std::error_code error;
  if (!fs::is_regular_file(path.parent_path() / location, error)) {
    refuse(path, fmt::format("stores '{}' in '{}': no such file", tensor.name(), given),
           "copy that file beside the model");
  }
}

/// Throws UsageError for an unsupported operator set or a broken rule of ONNX. The library checks
/// rules up to its own operator set; for later ones, check_order and the translation find errors.
void check(const fs::path& path, const onnx::ModelProto& model, std::int64_t opset) {
  if (opset < min_opset || opset > max_opset) {
    refuse(path,
           fmt::format("has operator set {}; allowed are {} to {}", opset, min_opset, max_opset),
           fmt::format("export it with opset_version={}", 17));
  }
  constexpr int opset_of_library = 17;
  if (opset > opset_of_library || model.ir_version() > onnx::Version::IR_VERSION) return;
  const auto& weights = model.graph().initializer();
  const bool has_external = std::ranges::any_of(weights, [](const onnx::TensorProto& one) {
    return one.data_location() == onnx::TensorProto::EXTERNAL;
  });
  try {
    // The library needs the path to find the folder with the weights; it reads the file again.
    if (has_external) {
      onnx::checker::check_model(path.string());
    } else {
      onnx::checker::check_model(model);
    }
  } catch (const std::exception& error) {
    refuse(path, "breaks a rule of ONNX: " + in_one_line(error.what()), export_again);
  }
}

/// Returns the number of elements of a small tensor, whose values Constant keeps; nothing for
/// larger and invalid shapes.
std::optional<std::int64_t> kept_elements(const Shape& shape) {
  constexpr std::int64_t max_kept = 1024;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || extent > max_kept) return std::nullopt;
    count *= extent;
    if (count > max_kept) return std::nullopt;
  }
  return count;
}

/// Converts a tensor. Throws std::exception for data that cannot be read.
Constant constant_of(const onnx::TensorProto& tensor) {
  Constant made{.shape = {tensor.dims().begin(), tensor.dims().end()}};
  made.type = element_type(tensor.data_type());
  made.range = range_of_type(tensor.data_type());
  const auto count = kept_elements(made.shape);
  if (!count || tensor.data_location() == onnx::TensorProto::EXTERNAL) return made;
  if (is_number(tensor.data_type())) made.numbers = numbers_of(tensor, *count);
  return made;
}

Graph graph_of(const onnx::GraphProto& from, std::int64_t opset);

Attribute attribute_of(const onnx::AttributeProto& attribute, std::int64_t opset) {
  switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      return attribute.i();
    case onnx::AttributeProto::FLOAT:
      return static_cast<double>(attribute.f());
    case onnx::AttributeProto::STRING:
      return attribute.s();
    case onnx::AttributeProto::STRINGS:
      return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
    case onnx::AttributeProto::INTS:
      return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case onnx::AttributeProto::TENSOR:
      return constant_of(attribute.t());
    case onnx::AttributeProto::GRAPH:
      return std::make_shared<const Graph>(graph_of(attribute.g(), opset));
    default:
      return Unreadable();
  }
}

Node node_of(const onnx::NodeProto& from, std::int64_t opset) {
  const bool is_own = from.domain().empty() || from.domain() == "ai.onnx";
  Node node{.name = from.name(),
            .op = is_own ? from.op_type() : from.domain() + '.' + from.op_type(),
            .inputs = {from.input().begin(), from.input().end()},
            .outputs = {from.output().begin(), from.output().end()}};
  for (const onnx::AttributeProto& one : from.attribute()) {
    node.attributes.emplace(one.name(), attribute_of(one, opset));
  }
  return node;
}

Input input_of(const onnx::ValueInfoProto& from) {
  const onnx::TypeProto_Tensor& type = from.type().tensor_type();
  Input input{.name = from.name(),
              .type = element_type(type.elem_type()),
              .is_numbers = is_floating(type.elem_type()),
              .is_tokens = type.elem_type() == onnx::TensorProto::INT64 ||
                           type.elem_type() == onnx::TensorProto::INT32};
  for (const onnx::TensorShapeProto_Dimension& one : type.shape().dim()) {
    input.shape.push_back(one.has_dim_value() && one.dim_value() > 0 ? one.dim_value()
                                                                     : open_dimension);
    input.dimensions.push_back(one.dim_param());
  }
  return input;
}

/// Checks that nodes read only tensors that exist, and that each tensor is made once. The library
/// does so only for versions that it supports.
void check_order(const fs::path& path, const Graph& graph) {
  std::set<std::string, std::less<>> known;
  for (const Input& one : graph.inputs) known.insert(one.name);
  for (const auto& [name, constant] : graph.constants) known.insert(name);
  for (const Node& node : graph.nodes) {
    for (const std::string& name : node.inputs) {
      if (name.empty() || known.contains(name)) continue;
      refuse(
          path,
          fmt::format("breaks a rule of ONNX: {} '{}' reads '{}', which no earlier node computes",
                      node.op, node.name, name),
          export_again);
    }
    for (const std::string& name : node.outputs) {
      if (name.empty() || known.insert(name).second) continue;
      refuse(path, fmt::format("breaks a rule of ONNX: '{}' is computed twice", name),
             export_again);
    }
  }
}

Graph graph_of(const onnx::GraphProto& from, std::int64_t opset) {
  Graph graph{.opset = opset, .nodes = {}, .constants = {}, .inputs = {}, .outputs = {}};
  for (const onnx::TensorProto& one : from.initializer()) {
    graph.constants.emplace(one.name(), constant_of(one));
  }
  std::set<std::string, std::less<>> made;
  for (const onnx::NodeProto& one : from.node()) {
    graph.nodes.push_back(node_of(one, opset));
    made.insert(graph.nodes.back().outputs.begin(), graph.nodes.back().outputs.end());
  }
  for (const onnx::ValueInfoProto& one : from.input()) {
    if (graph.constants.contains(one.name()) || made.contains(one.name())) continue;
    graph.inputs.push_back(input_of(one));
  }
  for (const onnx::ValueInfoProto& one : from.output()) graph.outputs.push_back(one.name());
  return graph;
}

// --- values of weights ---

/// Replaces a tensor's reference to a file by the bytes in it. Throws std::exception for a range
/// outside of the file, or if the range does not have `bytes_wanted` bytes.
void load_external(const fs::path& path, onnx::TensorProto& tensor, std::size_t bytes_wanted) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
  check_external(path, tensor);
  const fs::path location = path.parent_path() / entry_of(tensor, "location");
  const std::string offset_text = entry_of(tensor, "offset");
  const std::string length_text = entry_of(tensor, "length");
  const std::uintmax_t size = fs::file_size(location);
  const std::uintmax_t offset = offset_text.empty() ? 0 : std::stoull(offset_text);
  if (offset > size)
    throw std::invalid_argument(tensor.name() + " begins after the end of its file");
  const std::uintmax_t length = length_text.empty() ? size - offset : std::stoull(length_text);
  if (length != bytes_wanted) {
    throw std::invalid_argument(tensor.name() +
                                " has a number of values that does not match its shape");
  }
  if (length > size - offset) throw std::invalid_argument(tensor.name() + " is cut off");
  std::ifstream stream(location, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  std::string bytes(length, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(length));
  if (!stream) throw std::invalid_argument(tensor.name() + " cannot be read");
  tensor.clear_external_data();
  tensor.set_data_location(onnx::TensorProto::DEFAULT);
  tensor.set_raw_data(std::move(bytes));
}

/// Returns all values as f32. Throws std::exception for data that cannot be read.
std::vector<float> floats_of(const fs::path& path, onnx::TensorProto tensor) {
  const std::int64_t count = element_count({tensor.dims().begin(), tensor.dims().end()});
  load_external(path, tensor, static_cast<std::size_t>(count) * bytes_of_type(tensor.data_type()));
  if (tensor.data_type() == onnx::TensorProto::FLOAT) return values_of<float>(tensor, count);
  const std::vector<double> wide = numbers_of(tensor, count);
  std::vector<float> values;
  for (const double value : wide) values.push_back(static_cast<float>(value));
  return values;
}

using TensorsByName = std::map<std::string, const onnx::TensorProto*, std::less<>>;

/// Adds the tensors of a graph and of its nested graphs, whose depth `exceeded_limit` has checked.
void add_tensors(const onnx::GraphProto& graph, TensorsByName& tensors) {
  for (const onnx::TensorProto& one : graph.initializer()) tensors[one.name()] = &one;
  for (const onnx::NodeProto& node : graph.node()) {
    const bool is_constant = node.op_type() == "Constant" && node.output_size() == 1;
    for (const onnx::AttributeProto& one : node.attribute()) {
      if (one.has_g()) add_tensors(one.g(), tensors);
      if (is_constant && one.name() == "value") tensors[node.output(0)] = &one.t();
    }
  }
}

}  // namespace

struct FileValues::Parsed {
  onnx::ModelProto model;
  TensorsByName tensors;  // tensors of `model`

  explicit Parsed(const fs::path& path) : model(parsed(path)) {
    join_scopes_of(model, path);
    add_tensors(model.graph(), tensors);
  }
};

FileValues::FileValues(fs::path path) : path_(std::move(path)) {}
FileValues::~FileValues() = default;

std::vector<float> FileValues::of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (!parsed_) parsed_ = std::make_unique<Parsed>(path_);
  const auto found = parsed_->tensors.find(name);
  if (found == parsed_->tensors.end())
    refuse(path_, "has no values of '" + name + "'", export_again);
  return guarded(path_, "has weights that cannot be read", "run it with --weights random",
                 [&] { return floats_of(path_, *found->second); });
}

void FileValues::release() {
  const std::lock_guard lock(mutex_);
  parsed_.reset();
}

namespace {

Graph checked_graph(onnx::ModelProto model, const fs::path& path) {
  const std::int64_t opset = opset_of(model);
  for (const onnx::TensorProto& one : model.graph().initializer()) check_external(path, one);
  check(path, model, opset);
  join_scopes_of(model, path);
  return guarded(path, "has a tensor that cannot be read", export_again, [&] {
    Graph graph = graph_of(model.graph(), opset);
    check_order(path, graph);
    return graph;
  });
}

}  // namespace

Graph read_file(const fs::path& path) { return checked_graph(parsed(path), path); }

Graph read_stream(std::istream& stream, const fs::path& path) {
  return checked_graph(parsed(stream, path), path);
}

}  // namespace parbench::onnx_import
