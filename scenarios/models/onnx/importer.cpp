// Which nodes are mapped, in which order, and how the layers are divided into units.
#include "scenarios/models/onnx/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "kernels/base/error.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/onnx/constants.h"
#include "scenarios/models/onnx/fusions.h"
#include "scenarios/models/onnx/operators.h"
#include "scenarios/models/onnx/units.h"

namespace parbench::onnx_import {
namespace {

/// Of an image whose height or width the file leaves open: that of most published networks.
constexpr std::int64_t open_image = 224;

/// Stands for samples whose number the file leaves open: a prime that shapes do not have.
constexpr std::int64_t open_samples = 1'000'003;
/// More samples are no batch; products of them and max_elements fit into 64 bits.
constexpr std::int64_t max_samples = 1 << 20;

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

/// The names of the open dimensions behind the samples.
std::vector<std::string> open_names(const Input& input) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < input.shape.size(); ++i) {
    if (input.shape[i] != open_dimension) continue;
    names.push_back(input.dimensions[i].empty() ? "one without a name" : input.dimensions[i]);
  }
  return names;
}

}  // namespace

void check_size(const Shape& shape) {
  if (is_too_large(shape)) {
    throw CannotMap("one of its tensors is empty or larger than any memory");
  }
}

std::vector<ValuePiece> pieces_of(const Constant& constant) {
  if (constant.source.empty() && !constant.filled) return constant.pieces;
  if (constant.transposed && constant.shape.size() != 2) return {};  // divided anew since
  Shape of_tensor = constant.shape;
  std::ranges::reverse(of_tensor);
  return {{.tensor = constant.source,
           .count = element_count(constant.shape),
           .filled = constant.filled.value_or(0),
           .transposed_from = constant.transposed ? of_tensor : Shape()}};
}

std::vector<ValuePiece> part_of(const std::vector<ValuePiece>& pieces, std::int64_t first,
                                std::int64_t count) {
  std::vector<ValuePiece> part;
  for (ValuePiece piece : pieces) {
    const std::int64_t skipped = std::min(first, piece.count);
    first -= skipped;
    piece.first += skipped;
    piece.count = std::min(count, piece.count - skipped);
    count -= piece.count;
    if (piece.count > 0) part.push_back(std::move(piece));
  }
  return part;
}

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
  if (network_.layers.back().output.size() == image_rank) {
    throw UsageError("has images as its output, whose loss can only be mse; leave --loss out");
  }
  network_.loss = *options_.loss;
}

void Importer::keep_values(std::string_view role, const Constant& constant, bool transposed) {
  std::vector<ValuePiece> pieces = pieces_of(constant);
  if (transposed && pieces.size() != 1) return;  // its rows would have to be taken apart
  if (transposed) {
    Shape& from = pieces.front().transposed_from;
    from = from.empty() ? constant.shape : Shape();
  }
  keep_source(role, {.pieces = std::move(pieces)});
}

void Importer::keep_source(std::string_view role, ValueSource source) {
  if (source.pieces.empty()) return;
  const int layer = static_cast<int>(network_.layers.size()) - 1;
  value_sources_[{layer, std::string(role)}] = std::move(source);
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
  if (network_.input.size() > (has_tokens_ ? 1 : max_rank) || is_too_large(network_.input) ||
      samples_ > max_samples) {
    throw UsageError(
        fmt::format("has an input '{}' of other samples than rows, sequences or images "
                    "that fit into a memory",
                    input.name));
  }
  outputs_[input.name] = whole_view(network_input, network_.input, samples_in_shapes());
}

// --- what operators find ---

int Importer::activation(const std::string& name) const {
  const View& found = view(name);
  if (found.scale != 1) throw CannotMap("it reads a product with a number, which has no layer");
  if (is_in_order(found, shape_of(found.activation))) return found.activation;
  throw CannotMap("it reads a part of a tensor, or one whose dimensions have been swapped");
}

void Importer::check_whole(const View& view) const {
  if (view.scale != 1) throw CannotMap("it reads a product with a number, which has no layer");
  if (!is_whole(view, shape_of(view.activation))) {
    throw CannotMap("it reads a part of a tensor, which has no layer");
  }
}

const View* Importer::find_view(const std::string& name) const {
  const auto found = outputs_.find(name);
  return found == outputs_.end() ? nullptr : &found->second;
}

const Scores* Importer::scores(const std::string& name) const {
  const auto found = scores_.find(name);
  return found == scores_.end() ? nullptr : &found->second;
}

std::int64_t Importer::samples_in_shapes() const {
  return samples_ == open_dimension ? open_samples : samples_;
}

const View& Importer::view(const std::string& name) const {
  const View* found = find_view(name);
  if (found != nullptr && found->activation == network_input && has_tokens_) {
    throw CannotMap("it reads tokens, which only a Gather from a table can");
  }
  if (found != nullptr) return *found;
  if (constant(name) != nullptr) throw CannotMap(fmt::format("'{}' is a constant", name));
  if (scores(name) != nullptr) {
    throw CannotMap("it reads products of two activations, which only attention does");
  }
  const Node* from = maker(name);
  if (from == nullptr || unmapped_.contains(from)) throw Unmapped();
  throw CannotMap(fmt::format("it reads '{}', which is not the first output of its node", name));
}

std::string Importer::tensor_behind(const std::string& name) const {
  const Constant* found = constant(name);
  if (found == nullptr) return name;
  if (found->source.empty() && !found->pieces.empty()) {
    const ValuePiece& first = found->pieces.front();
    return fmt::format("{} from {} on", first.tensor, first.first);
  }
  return found->source.empty() ? name : found->source;
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

bool Importer::reads_constants_only(const Node& node) const {
  bool reads = false;
  for (const std::string& input : node.inputs) {
    if (input.empty()) continue;
    if (constant(input) == nullptr) return false;
    reads = true;
  }
  return reads;
}

void Importer::map_as_operator(const Node& node) {
  if (const auto fused = fused_.find(&node); fused != fused_.end()) {
    return fused->second(*this, node);
  }
  if (reads_constants_only(node)) {
    const auto folding = foldings().find(node.op);
    if (folding != foldings().end()) return folding->second(*this, node);
  }
  const auto found = operators().find(node.op);
  if (found != operators().end()) return found->second(*this, node);
  if (foldings().contains(node.op)) {  // it may be arithmetic of a shape that is not known
    for (const std::string& input : node.inputs) {
      const Node* from = maker(input);
      if (from != nullptr && unmapped_.contains(from)) throw Unmapped();
    }
  }
  throw CannotMap("no layer for it; see docs/guide/own-model.md#operators");
}

void Importer::map(const Node& node) {
  if (is_absorbed(node) || node.outputs.empty()) return;
  try {
    map_as_operator(node);
  } catch (const Unmapped&) {
    unmapped_.insert(&node);  // what it reads has a problem of its own
  } catch (const CannotMap& error) {
    problems_.push_back({&node, error.what()});
    unmapped_.insert(&node);
    outputs_.erase(node.outputs.at(0));
  }
}

/// Ahead of all others: patterns of several nodes are known by their constants.
void Importer::fold_constants(const std::vector<const Node*>& nodes) {
  for (const Node* node : nodes) {
    const bool follows =
        (node->op == "Identity" || node->op == "ConstantOfShape") && reads_constants_only(*node);
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
  check_output();
  drop_unread_layers();
  if (!problems_.empty()) refuse(nodes.size());
  if (network_.parameters().empty()) {
    throw UsageError(
        "has no weights to train; export it with do_constant_folding=False and its parameters as "
        "initializers");
  }
  apply_loss();
  divide_into_units(network_);
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
