// From the nodes of an ONNX graph to the layers of a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/models/network.h"
#include "scenarios/models/onnx/reading/graph.h"
#include "scenarios/models/onnx/views.h"

namespace parbench::onnx_import {

/// Dimensions of a sample that is an image: channels, height, width.
inline constexpr std::size_t image_rank = 3;

/// Why a node has no layer. No std::logic_error: those are faults of the importer itself.
class CannotMap : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The height and width that the graph's images have; nothing where its input is none, or not
/// square.
[[nodiscard]] std::optional<std::int64_t> usual_image(const Graph& graph);

/// What the user decides of a network.
struct ImportOptions {
  std::optional<std::int64_t> image = {};  // replaces height and width of the input
  std::optional<Loss> loss = {};
  /// Sizes of open dimensions by their names.
  std::map<std::string, std::int64_t, std::less<>> dimensions = {};
};

/// What a parameter is of the values of the file.
enum class Derived { same, negated, inverse };

/// Where the values of a parameter are, one piece behind the other. `addends` are as many further
/// ones, which are added.
struct ValueSource {
  std::vector<ValuePiece> pieces = {};
  std::vector<ValuePiece> addends = {};
  Derived derived = Derived::same;

  friend bool operator==(const ValueSource&, const ValueSource&) = default;
};

/// Throws CannotMap for a shape that no machine holds, or that has no elements.
void check_size(const Shape& shape);

/// Where a constant's values are; nothing where the file does not have them. Of a constant that
/// check_size has passed.
[[nodiscard]] std::vector<ValuePiece> pieces_of(const Constant& constant);
/// The values of so many elements.
[[nodiscard]] std::vector<ValuePiece> part_of(const std::vector<ValuePiece>& pieces,
                                              std::int64_t first, std::int64_t count);

/// Sources by layer and role of a parameter.
using ValueSources = std::map<std::pair<int, std::string>, ValueSource>;

class Importer;

/// Adds the layer that a group of nodes becomes, with the output of the last of them.
using MakeLayer = std::function<void(Importer& importer, const Node& last)>;

/// The layers that have been made of nodes so far, and which nodes belong together.
class Importer {
 public:
  /// The graph outlives the importer. Throws UsageError, as all of it, with what follows the file's
  /// name in a message: for a graph without exactly one input, or without an output.
  Importer(const Graph& graph, ImportOptions options);

  /// Maps all nodes that the first output depends on, once. `name` is the file's. Throws UsageError
  /// that lists every node that cannot be mapped, with its reason.
  [[nodiscard]] Network import(const std::string& name);
  /// Of the parameters whose values the file has.
  [[nodiscard]] const ValueSources& value_sources() const { return value_sources_; }

  // --- what operators find ---
  [[nodiscard]] std::int64_t opset() const { return graph_.opset; }
  /// The samples that the file was exported with; open_dimension where it leaves them open.
  [[nodiscard]] std::int64_t samples() const { return samples_; }
  /// The layer whose output has the name, or network_input. Throws CannotMap for a constant, and
  /// for a view that is not all of an output in its order.
  [[nodiscard]] int activation(const std::string& name) const;
  /// The part of an activation that has the name. Throws CannotMap for a constant.
  [[nodiscard]] const View& view(const std::string& name) const;
  /// Null where a name has none.
  [[nodiscard]] const View* find_view(const std::string& name) const;
  /// Null where a name is of something else.
  [[nodiscard]] const Scores* scores(const std::string& name) const;
  /// What stands for the samples in shapes of the graph.
  [[nodiscard]] std::int64_t samples_in_shapes() const;
  /// Null for a name that is no constant.
  [[nodiscard]] const Constant* constant(const std::string& name) const;
  /// The tensor of the file whose values a name has, also through nodes that only move them; the
  /// name itself where there is none.
  [[nodiscard]] std::string tensor_behind(const std::string& name) const;
  /// The shape of one sample of a layer's output, or of the network's input.
  [[nodiscard]] const Shape& shape_of(int activation) const;
  /// The first input of the layer that makes an activation.
  [[nodiscard]] int input_of(int activation) const {
    return network_.layer(activation).inputs.front();
  }
  /// The node that has made a name; null for inputs and constants of the file.
  [[nodiscard]] const Node* maker(const std::string& name) const;
  /// Whether it is the output that the network is trained on.
  [[nodiscard]] bool is_output(const std::string& name) const {
    return name == graph_.outputs.front();
  }
  /// The only node that reads what a node has made; null where there are several, or none.
  [[nodiscard]] const Node* only_reader(const Node& node) const;
  /// All nodes that read a name.
  [[nodiscard]] const std::vector<const Node*>& readers_of(const std::string& name) const;
  /// Whether a name is the network's input, and that is of tokens.
  [[nodiscard]] bool is_tokens(const std::string& name) const {
    return has_tokens_ && name == graph_.inputs.front().name;
  }

  // --- what they make ---
  /// Adds a layer whose output is the first of `node`. Its parameters are named after `weights`, so
  /// that those of "fc.weight", or "fc.bias", belong to layer fc; without it the layer is named
  /// after the node. Throws CannotMap for inputs of shapes that the kind does not take.
  template <class Kind>
  int add(const Node& node, Kind kind, std::vector<int> inputs, const std::string& weights = {}) {
    if (!weights.empty()) claim(weights);
    const std::string name = name_of_layer(node, weights);
    const int layer = append(name, std::move(kind), std::move(inputs));
    alias(node, layer);
    return layer;
  }
  /// Adds a layer that computes each element, or each row, by itself: its output has the dimensions
  /// of its input.
  template <class Kind>
  void add_elementwise(const Node& node, Kind kind, View input, const std::string& weights = {}) {
    check_whole(input);
    input.activation = add(node, std::move(kind), {input.activation}, weights);
    set_view(node.outputs.at(0), std::move(input));
  }
  /// Throws CannotMap where a layer has those weights already.
  void claim(const std::string& weights);
  /// Throws CannotMap unless each element of an activation is there once, and as it is.
  void check_whole(const View& view) const;
  /// Adds a linear layer in place of several with one input, whose outputs it has one behind the
  /// other. Throws CannotMap where they cannot be one. Nothing else may read them.
  [[nodiscard]] int merge_linear(const Node& node, const std::vector<int>& layers);
  /// The kind of the layer that makes an activation, where it is of that class, else null.
  template <class Kind>
  [[nodiscard]] const Kind* kind_of(int activation) const {
    return activation == network_input ? nullptr : as<Kind>(network_.layer(activation));
  }
  /// Gives a layer another kind, whose output has the same shape.
  template <class Kind>
  void replace(int layer, Kind kind) {
    network_.layers.at(static_cast<std::size_t>(layer)).kind =
        std::make_shared<const Kind>(std::move(kind));
  }
  /// The layer that was added last has its parameter of that role from the constant. `transposed`:
  /// the constant is a matrix, and the parameter its transpose.
  void keep_values(std::string_view role, const Constant& constant, bool transposed = false);
  void keep_source(std::string_view role, ValueSource source);
  /// The values of a layer's parameters are no longer those of single tensors.
  void forget_values(int layer) {
    std::erase_if(value_sources_, [&](const auto& one) { return one.first.first == layer; });
  }
  /// The node's first output is an activation that is there already. Throws CannotMap for one that
  /// fits into no memory.
  void alias(const Node& node, int activation);
  void set_view(const std::string& name, View view) { outputs_[name] = std::move(view); }
  void set_scores(const Node& node, Scores scores) {
    scores_[node.outputs.at(0)] = std::move(scores);
  }
  void fold(const Node& node, Constant constant) {
    constants_[node.outputs.at(0)] = std::move(constant);
  }
  /// The number of different tokens of the input. Throws CannotMap for a second one.
  void set_vocabulary(std::int64_t vocabulary);
  /// A node whose layer is made so, in place of what its operator says.
  void fuse(const Node& last, MakeLayer make) { fused_[&last] = std::move(make); }
  void set_loss(Loss loss) { network_.loss = loss; }
  /// Of the random numbers of a layer that is added next: no other layer has it.
  [[nodiscard]] std::uint64_t next_subsequence() const { return network_.layers.size() + 1; }
  /// Another node makes its layer. A node that is absorbed ahead of its turn is not mapped.
  void absorb(const Node& node) { absorbed_.insert(&node); }
  [[nodiscard]] bool is_absorbed(const Node& node) const { return absorbed_.contains(&node); }

 private:
  struct Problem {
    const Node* node;
    std::string reason;
  };

  template <class Kind>
  int append(const std::string& name, Kind kind, std::vector<int> inputs) {
    try {
      return network_.add(name, std::move(kind), std::move(inputs));
    } catch (const std::invalid_argument& error) {
      throw CannotMap(error.what());
    }
  }
  void set_input();
  void set_open_dimensions(const Input& input);
  void apply_loss();
  [[nodiscard]] std::vector<const Node*> wanted_nodes() const;
  void map(const Node& node);
  void map_as_operator(const Node& node);
  [[nodiscard]] bool reads_constants_only(const Node& node) const;
  void check_output() const;
  void drop_unread_layers();
  void fold_constants(const std::vector<const Node*>& nodes);
  [[nodiscard]] std::string name_of_layer(const Node& node, const std::string& weights);
  [[nodiscard]] std::string unique(const std::string& name);
  [[noreturn]] void refuse(std::size_t nodes) const;

  const Graph& graph_;
  Network network_;
  ImportOptions options_;
  ValueSources value_sources_;
  std::int64_t samples_ = open_dimension;
  std::map<std::string, View, std::less<>> outputs_;
  std::map<std::string, Scores, std::less<>> scores_;
  std::map<int, const Node*> merged_;  // layers that others stand for, with what made those
  std::map<std::string, Constant, std::less<>> constants_;  // that follow from the file's
  std::map<std::string, std::vector<const Node*>, std::less<>> readers_;
  std::map<std::string, const Node*, std::less<>> makers_;
  std::set<const Node*> absorbed_;
  std::map<const Node*, MakeLayer> fused_;
  bool has_tokens_ = false;
  std::set<const Node*> unmapped_;  // that have a problem, or read one that has
  std::set<std::string> weights_;   // that layers have
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // the last one behind a name that several layers have
  std::vector<Problem> problems_;
};

/// A node's inputs and attributes as its operator wants them. All throw CannotMap where it has not
/// what is asked for.
class NodeView {
 public:
  NodeView(const Importer& importer, const Node& node) : importer_(importer), node_(node) {}

  [[nodiscard]] bool has_input(std::size_t which) const {
    return which < node_.inputs.size() && !node_.inputs[which].empty();
  }
  [[nodiscard]] const std::string& input(std::size_t which) const;
  [[nodiscard]] int activation(std::size_t which) const {
    return importer_.activation(input(which));
  }
  /// Null where the input is left out or is an activation.
  [[nodiscard]] const Constant* constant(std::size_t which) const;
  /// A constant that must be there; `what` names it in the message.
  [[nodiscard]] const Constant& weights(std::size_t which, std::string_view what) const;
  [[nodiscard]] bool has_attribute(std::string_view name) const {
    return node_.attributes.contains(name);
  }
  template <class Value>
  [[nodiscard]] Value attribute(std::string_view name, Value fallback) const {
    const auto found = node_.attributes.find(name);
    if (found == node_.attributes.end()) return fallback;
    if (const auto* value = std::get_if<Value>(&found->second)) return *value;
    throw CannotMap("its attribute " + std::string(name) + " has another type");
  }
  /// Whole numbers of an attribute, or of a constant input, where later operator sets have them.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name, std::size_t which) const;
  /// The same of a single number.
  [[nodiscard]] double scalar(std::string_view name, std::size_t which, double fallback) const;

 private:
  const Importer& importer_;
  const Node& node_;
};

}  // namespace parbench::onnx_import
