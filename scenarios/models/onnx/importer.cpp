// Which nodes are mapped, in which order, and how the layers are divided into units.
#include "scenarios/models/onnx/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "kernels/base/error.h"
#include "scenarios/models/onnx/fusions.h"
#include "scenarios/models/onnx/operators.h"

namespace parbench::onnx_import {
namespace {

/// Of an image whose height or width the file leaves open: that of most published networks.
constexpr std::int64_t open_image = 224;

/// A node reads what another one has not made, because that could not be mapped.
class Unmapped : public std::exception {};

/// Samples and parameters beyond it fit into no memory.
constexpr std::int64_t max_elements = std::int64_t{1} << 40U;

/// Whether no machine holds it, or a dimension is empty.
bool is_too_large(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent <= 0 || extent > max_elements / count) return true;
    count *= extent;
  }
  return false;
}

void check_size(const Shape& shape) {
  if (is_too_large(shape)) {
    throw CannotMap("one of its tensors is empty or larger than any memory");
  }
}

/// Names in files have slashes, which divide names of cases: "/layer1/conv1/Conv" is
/// "layer1.conv1.Conv".
std::string with_dots(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == ':' || c == '+' || c == ',' || c == ' '; }, '.');
  name.erase(0, std::min(name.find_first_not_of('.'), name.size()));
  return name;
}

/// The names of the open dimensions behind the samples.
std::vector<std::string> open_names(const Input& input) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < input.shape.size(); ++i) {
    if (input.shape[i] != open_dimension) continue;
    names.push_back(input.dimensions[i].empty() ? "one without a name" : input.dimensions[i]);
  }
  return names;
}

/// Nodes need no name.
std::string name_of(const Node& node) {
  if (!node.name.empty()) return node.name;
  return node.outputs.empty() ? "without an output" : node.outputs.front();
}

}  // namespace

std::optional<std::int64_t> usual_image(const Graph& graph) {
  if (graph.inputs.size() != 1 || graph.inputs.front().shape.size() != 4) return std::nullopt;
  const Shape& shape = graph.inputs.front().shape;
  if (shape[2] != shape[3]) return std::nullopt;
  return shape[2] == open_dimension ? open_image : shape[2];
}

Importer::Importer(const Graph& graph, ImportOptions options)
    : graph_(graph), options_(std::move(options)) {
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty()) makers_[output] = &node;
    }
  }
  network_.one_hot_target = false;
  network_.unit("");
  set_input();
}

/// Open dimensions behind that of the samples have the sizes that the user gives by their names;
/// those of an image have --image.
void Importer::set_open_dimensions(const Input& input) {
  std::vector<std::string> known;
  const bool is_image = input.shape.size() == 4;
  const std::size_t end = is_image ? 2 : input.shape.size();
  for (std::size_t i = 1; i < end; ++i) {
    if (input.shape[i] != open_dimension || input.dimensions.at(i).empty()) continue;
    known.push_back(input.dimensions[i]);
    const auto found = options_.dimensions.find(known.back());
    if (found != options_.dimensions.end()) network_.input[i - 1] = found->second;
  }
  for (const auto& [name, size] : options_.dimensions) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw UsageError(fmt::format(
        "has no open dimension '{}' beside the samples, which --batch sets, and an image, which "
        "--image sets; allowed with --dim: {}",
        name, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
}

void Importer::apply_loss() {
  if (!options_.loss || *options_.loss == network_.loss) return;
  if (network_.loss == Loss::cross_entropy) {
    throw UsageError(
        "ends with a softmax, which is a part of the loss cross-entropy alone; leave "
        "--loss out");
  }
  constexpr std::size_t image_rank = 3;
  if (network_.layers.back().output.size() == image_rank) {
    throw UsageError("has images as its output, whose loss can only be mse; leave --loss out");
  }
  network_.loss = *options_.loss;
}

void Importer::keep_values(std::string_view role, const Constant& constant, bool transposed) {
  if (constant.source.empty() && !constant.filled) return;
  if (constant.transposed && constant.shape.size() != 2) return;  // divided anew since
  const int layer = static_cast<int>(network_.layers.size()) - 1;
  Shape of_tensor = constant.shape;
  if (constant.transposed) std::ranges::reverse(of_tensor);
  value_sources_[{layer, std::string(role)}] = {
      .tensor = constant.source,
      .filled = constant.filled.value_or(0),
      .transposed_from = transposed != constant.transposed ? of_tensor : Shape()};
}

void Importer::set_input() {
  const auto count = std::ranges::count_if(graph_.inputs, &Input::is_numbers);
  has_tokens_ = graph_.inputs.size() == 1 && graph_.inputs.front().is_tokens;
  if ((count != 1 && !has_tokens_) || graph_.inputs.size() != 1) {
    throw UsageError(
        fmt::format("has {} input{}, {} of floating-point numbers; allowed is one such input, or "
                    "one of tokens, and no other",
                    graph_.inputs.size(), graph_.inputs.size() == 1 ? "" : "s",
                    count == 0 ? "none" : fmt::format("{}", count)));
  }
  const Input& input = graph_.inputs.front();
  if (graph_.outputs.empty()) throw UsageError("has no output; export it with one");
  if (input.shape.size() < 2) {
    throw UsageError(fmt::format("has an input '{}' without a dimension of samples and one of data",
                                 input.name));
  }
  samples_ = input.shape.front();
  network_.input = {input.shape.begin() + 1, input.shape.end()};
  set_open_dimensions(input);
  if (network_.input.size() == 3) {
    for (std::size_t i = 1; i < 3; ++i) {
      std::int64_t& extent = network_.input[i];
      if (extent == open_dimension) extent = open_image;
      extent = options_.image.value_or(extent);
    }
  }
  if (std::ranges::find(network_.input, open_dimension) != network_.input.end()) {
    throw UsageError(
        fmt::format("leaves dimensions of its input '{}' open other than the samples: {}; give "
                    "their sizes with --dim NAME=SIZE, or export it with fixed ones",
                    input.name, fmt::join(open_names(input), ", ")));
  }
  constexpr std::size_t max_rank = 3;
  if (network_.input.size() > (has_tokens_ ? 1 : max_rank) || is_too_large(network_.input)) {
    throw UsageError(
        fmt::format("has an input '{}' of other samples than rows, sequences or images "
                    "that fit into a memory",
                    input.name));
  }
  outputs_[input.name] = network_input;
}

// --- what operators find ---

int Importer::activation(const std::string& name) const {
  const auto found = outputs_.find(name);
  if (found != outputs_.end() && found->second == network_input && has_tokens_) {
    throw CannotMap("it reads tokens, which only a Gather from a table can");
  }
  if (found != outputs_.end()) return found->second;
  if (constant(name) != nullptr) throw CannotMap(fmt::format("'{}' is a constant", name));
  const Node* from = maker(name);
  if (from == nullptr || unmapped_.contains(from)) throw Unmapped();
  throw CannotMap(fmt::format("it reads '{}', which is not the first output of its node", name));
}

std::string Importer::tensor_behind(const std::string& name) const {
  const Constant* found = constant(name);
  return found == nullptr || found->source.empty() ? name : found->source;
}

const Constant* Importer::constant(const std::string& name) const {
  for (const auto* constants : {&constants_, &graph_.constants}) {
    const auto found = constants->find(name);
    if (found != constants->end()) return &found->second;
  }
  return nullptr;
}

const Shape& Importer::shape_of(int activation) const {
  return activation == network_input ? network_.input : network_.layer(activation).output;
}

const Node* Importer::maker(const std::string& name) const {
  const auto found = makers_.find(name);
  return found == makers_.end() ? nullptr : found->second;
}

const Node* Importer::only_reader(const Node& node) const {
  const Node* reader = nullptr;
  for (const std::string& output : node.outputs) {
    if (output.empty()) continue;
    if (is_output(output)) return nullptr;
    const auto found = readers_.find(output);
    if (found == readers_.end()) continue;
    if (reader != nullptr || found->second.size() != 1) return nullptr;
    reader = found->second.front();
  }
  return reader;
}

const std::vector<const Node*>& Importer::readers_of(const std::string& name) const {
  static const std::vector<const Node*> none;
  const auto found = readers_.find(name);
  return found == readers_.end() ? none : found->second;
}

void Importer::set_vocabulary(std::int64_t vocabulary) {
  if (network_.vocabulary != 0 && network_.vocabulary != vocabulary) {
    throw CannotMap("the input's tokens choose rows of tables of different lengths");
  }
  network_.vocabulary = vocabulary;
}

// --- nodes ---

std::vector<const Node*> Importer::wanted_nodes() const {
  std::set<std::string, std::less<>> wanted{graph_.outputs.front()};
  std::vector<const Node*> nodes;
  for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
    if (std::ranges::none_of(node->outputs,
                             [&](const auto& one) { return wanted.contains(one); })) {
      continue;
    }
    wanted.insert(node->inputs.begin(), node->inputs.end());
    wanted.erase("");  // inputs that are left out
    nodes.push_back(&*node);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

void Importer::map(const Node& node) {
  if (is_absorbed(node)) return;
  const auto fused = fused_.find(&node);
  const auto found = operators().find(node.op);
  if (found == operators().end() && fused == fused_.end()) {
    problems_.push_back({&node, "no layer for it"});
    unmapped_.insert(&node);
    return;
  }
  if (node.outputs.empty()) return;
  try {
    if (fused != fused_.end()) {
      fused->second(*this, node);
    } else {
      found->second(*this, node);
    }
    const auto made = outputs_.find(node.outputs.at(0));
    if (made != outputs_.end()) check_size(shape_of(made->second));
  } catch (const Unmapped&) {
    unmapped_.insert(&node);  // what it reads has a problem of its own
  } catch (const std::logic_error& error) {
    problems_.push_back({&node, error.what()});
    unmapped_.insert(&node);
    outputs_.erase(node.outputs.at(0));
  }
}

/// Ahead of all others: patterns of several nodes are known by their constants.
void Importer::fold_constants(const std::vector<const Node*>& nodes) {
  for (const Node* node : nodes) {
    const bool follows = (node->op == "Identity" || node->op == "ConstantOfShape") &&
                         node->inputs.size() == 1 && constant(node->inputs.front()) != nullptr;
    if (node->op != "Constant" && !follows) continue;
    map(*node);
    absorb(*node);
  }
}

Network Importer::import(const std::string& name) {
  const std::vector<const Node*> nodes = wanted_nodes();
  for (const Node* node : nodes) {
    for (const std::string& input : node->inputs) {
      if (!input.empty()) readers_[input].push_back(node);
    }
  }
  fold_constants(nodes);
  find_fusions(*this, nodes);
  for (const Node* node : nodes) map(*node);
  if (!problems_.empty()) refuse(nodes.size());
  if (!outputs_.contains(graph_.outputs.front())) {
    throw UsageError(
        fmt::format("has an output '{}' that no layer makes; export it with the output of its last "
                    "layer",
                    graph_.outputs.front()));
  }
  if (network_.parameters().empty())
    throw UsageError(
        "has no weights to train; export it with do_constant_folding=False and its parameters as "
        "initializers");
  apply_loss();
  divide_into_units();
  network_.name = name;
  return std::move(network_);
}

/// Nodes of one operator with one reason share a line.
void Importer::refuse(std::size_t nodes) const {
  constexpr std::size_t max_named = 3;
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;  // reason, names
  std::map<std::string, std::size_t> line_of;                           // by the reason
  for (const auto& [node, reason] : problems_) {
    const std::string text = fmt::format("{}: {}", node->op, reason);
    const auto [line, is_new] = line_of.try_emplace(text, lines.size());
    if (is_new) lines.push_back({text, {}});
    lines[line->second].second.push_back(name_of(*node));
  }
  std::string text = fmt::format("has {} of {} nodes without a layer in parbench (operator set {})",
                                 problems_.size(), nodes, graph_.opset);
  for (const auto& [reason, names] : lines) {
    const std::span<const std::string> shown =
        std::span(names).first(std::min(max_named, names.size()));
    text +=
        fmt::format("\n{} (node {}{})", reason, fmt::join(shown, ", "),
                    names.size() > max_named ? fmt::format(" and {} more", names.size() - max_named)
                                             : std::string());
  }
  throw UsageError(text);
}

// --- layers ---

std::string Importer::name_of_layer(const Node& node, const std::string& weights) {
  constexpr std::string_view suffix = ".weight";
  std::string name = name_of(node);
  if (weights.ends_with(suffix)) name = weights.substr(0, weights.size() - suffix.size());
  name = with_dots(std::move(name));
  std::string unique = name;
  while (!names_.insert(unique).second) {
    const int number = numbers_.try_emplace(name, 1).first->second += 1;
    unique = fmt::format("{}_{}", name, number);
  }
  return unique;
}

/// For each layer, how many tensors cross to it and those behind it (Network::crossing).
std::vector<std::size_t> Importer::crossing_tensors() const {
  const std::size_t count = network_.layers.size();
  std::vector<std::size_t> last_reader(count + 1);  // the network's input in front
  for (std::size_t reader = 0; reader < count; ++reader) {
    for (const int tensor : network_.layers[reader].inputs) {
      last_reader[static_cast<std::size_t>(tensor + 1)] = reader;
    }
  }
  std::vector<std::size_t> crossing(count + 1);
  std::vector<std::size_t> ending(count + 1);  // behind each layer
  std::size_t open = 0;
  for (std::size_t layer = 0; layer < count; ++layer) {
    if (last_reader[layer] >= layer) {  // that of the layer before it
      ++open;
      ++ending[last_reader[layer]];
    }
    crossing[layer] = open;
    open -= ending[layer];
  }
  return crossing;
}

/// A unit begins with a layer of products that everything behind it reads the network through: only
/// the tensor in front of it crosses. Where a connection goes past many such layers, and so leaves
/// them in one unit, units also begin where few tensors cross.
void Importer::divide_into_units() {
  constexpr std::size_t many = 16;
  constexpr std::size_t few = 6;
  const std::vector<std::size_t> crossing = crossing_tensors();
  const int count = static_cast<int>(network_.layers.size());
  std::vector<bool> can_begin(network_.layers.size());
  std::vector<int> products;                         // of the current unit, last layer first
  int first_read = std::numeric_limits<int>::max();  // by this layer and those behind it
  for (int i = count - 1; i >= 0; --i) {
    const Layer& layer = network_.layer(i);
    first_read = std::min(first_read, std::ranges::min(layer.inputs));
    const bool has_products = !layer.kind->products(network_.work_of(layer, 1), true).empty();
    if (has_products) products.push_back(i);
    can_begin[static_cast<std::size_t>(i)] = has_products && first_read == i - 1;
    if (can_begin[static_cast<std::size_t>(i)] || i == 0) {
      const bool is_divided = products.size() > many;
      for (const int product : std::exchange(products, {})) {
        const auto cut = static_cast<std::size_t>(product);
        if (is_divided && crossing[cut] <= few) can_begin[cut] = true;
      }
    }
  }
  network_.units.clear();
  for (int i = 0; i < count; ++i) {
    Layer& layer = network_.layers[static_cast<std::size_t>(i)];
    if (i == 0 || can_begin[static_cast<std::size_t>(i)]) network_.unit(layer.name);
    layer.unit = static_cast<int>(network_.units.size()) - 1;
  }
}

// --- views of nodes ---

const std::string& NodeView::input(std::size_t which) const {
  if (which >= node_.inputs.size() || node_.inputs[which].empty()) {
    throw CannotMap(fmt::format("it lacks input {}", which + 1));
  }
  return node_.inputs[which];
}

const Constant* NodeView::constant(std::size_t which) const {
  if (which >= node_.inputs.size()) return nullptr;
  return importer_.constant(node_.inputs[which]);
}

const Constant& NodeView::weights(std::size_t which, std::string_view what) const {
  const Constant* found = constant(which);
  if (found == nullptr) throw CannotMap(fmt::format("its {} must be constant in the file", what));
  check_size(found->shape);
  return *found;
}

std::vector<std::int64_t> NodeView::integers(std::string_view name, std::size_t which) const {
  if (node_.attributes.contains(name)) {
    return attribute(name, std::vector<std::int64_t>());
  }
  const Constant* found = constant(which);
  if (found == nullptr) throw CannotMap(fmt::format("its {} are computed at run time", name));
  return found->integers;
}

double NodeView::scalar(std::string_view name, std::size_t which, double fallback) const {
  if (node_.attributes.contains(name)) return attribute(name, fallback);
  if (which >= node_.inputs.size() || node_.inputs[which].empty()) return fallback;
  const Constant* found = constant(which);
  if (found == nullptr || !found->scalar) {
    throw CannotMap(fmt::format("its {} is computed at run time", name));
  }
  return *found->scalar;
}

}  // namespace parbench::onnx_import
