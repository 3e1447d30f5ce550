// Translates the nodes of an ONNX graph to general operations: the parts that all operators share.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/models/general/term.h"
#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/onnx/reading/graph.h"

namespace parbench::onnx_import {

using general::Extent;
using general::Extents;
using general::Term;

/// The reason why a node cannot be translated. Not a std::logic_error, which would indicate a bug
/// of the translator.
class CannotTranslate : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws CannotTranslate if the reason applies.
inline void refuse_if(bool applies, const std::string& reason) {
  if (applies) throw CannotTranslate(reason);
}

/// Stands for the number of samples in values of constants that are computed from shapes: a prime
/// that is assumed to divide no other extent.
inline constexpr std::int64_t samples_prime = 1'000'003;

/// Limit of integers that do not contain the number of samples. It exceeds practical extents;
/// products of two such integers and small factors fit into 64 bits.
inline constexpr std::int64_t max_integer = std::int64_t{1} << 30;

/// Limit of the extents of images and windows. Larger numbers are treated as mistakes; products of
/// three could exceed 64 bits.
inline constexpr std::int64_t max_extent = 1 << 24;

/// Returns the extents of a computed shape; multiples of `samples_prime` contain the samples.
/// Throws CannotTranslate for negative numbers.
[[nodiscard]] Extents extents_of_numbers(const std::vector<std::int64_t>& numbers);

/// Returns a name for a layer of a node. PyTorch's older exporter names nodes after the modules
/// around them, "/layer1/layer1.0/conv1/Conv". This becomes "layer1.0.conv1", the name of the
/// module, for layers with weights, otherwise "layer1.0.conv1.Conv". Other names are unchanged.
[[nodiscard]] std::string layer_name_of(const Node& node, bool has_weights);

/// A tensor of the file: an operation of the network's graph or of the graph of constants.
struct Tensor {
  bool is_constant = true;
  int operation = 0;
  ElementType type = ElementType::floating;
  std::optional<IntegerRange> range = {};  // of the type, if it is an integer type of 8 or 16 bits
};

/// A layer of an operator or a fusion (OpKind::layer), and the constants with the initial values of
/// the layer's parameters, by role.
struct TranslatedLayer {
  std::shared_ptr<const LayerKind> kind;
  std::string name;
  std::vector<std::pair<std::string, int>> parameters;
};

class Translator {
 public:
  /// A function that returns the values of a tensor of the file.
  using Load = std::function<std::vector<float>(const std::string& name)>;

  /// `file` must outlive the translator.
  Translator(const Graph& file, Load load);

  /// Adds an input of the file. `shape`: its extents, one of which contains the samples.
  void add_input(const std::string& name, Extents shape, ElementType type);
  void add_constant(const std::string& name, const Shape& shape, std::vector<double> values,
                    ElementType type);
  /// Translates nodes in order. `output`: name of the tensor that is read after them. Problems are
  /// collected; nodes that depend on a node with a problem are skipped.
  void translate(const std::vector<const Node*>& nodes, const std::string& output = {});
  /// Like `translate`, for a branch or an iteration of a loop whose inputs have been set. If a node
  /// fails, the node with the nested graph is skipped.
  void translate_nested(const onnx_import::Graph& nested);
  /// Gives a name to an existing tensor.
  void set(const std::string& name, const Tensor& tensor) { tensors_[name] = tensor; }
  /// Returns the tensor of that name. If it does not exist, the translation of the current node
  /// ends.
  [[nodiscard]] const Tensor& get(const std::string& name) const;

  struct Problem {
    const Node* node;
    std::string reason;
  };
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

  [[nodiscard]] general::Graph& network() { return network_; }
  [[nodiscard]] general::Graph& constants() { return constants_; }
  [[nodiscard]] std::int64_t opset() const { return file_.opset; }
  /// Returns the number of samples in the exported file; 1 if its first input does not show it.
  [[nodiscard]] std::int64_t samples_of_file() const;
  /// Returns the constants with the initial values of the network's parameters.
  [[nodiscard]] const std::vector<int>& parameters() const { return parameters_; }
  [[nodiscard]] int constant_of(const general::Operation& parameter) const {
    return parameters_.at(static_cast<std::size_t>(parameter.index));
  }
  [[nodiscard]] const std::vector<TranslatedLayer>& layers() const { return layers_; }
  /// Returns the node for which an operation of the network was appended; null if there is none.
  [[nodiscard]] const Node* maker_of(int operation) const;
  /// Stores a node that is not in the file, for operations that a fusion appends.
  const Node& add_node(Node node) { return added_nodes_.emplace_back(std::move(node)); }

  /// Returns the tensor of that name; null if it does not exist.
  [[nodiscard]] const Tensor* find(const std::string& name) const;
  /// Returns the network's operation for a tensor. The first call for a constant appends it: as a
  /// parameter with `trains`, or if it consists of weights (is_trainable) of several elements that
  /// are neither a mask nor positions; otherwise with its values. A later call with `trains`
  /// appends a parameter if the earlier call did not. Throws CannotTranslate for a constant that is
  /// too large or contains the number of samples.
  [[nodiscard]] int in_network(const Tensor& tensor, bool trains = false);
  /// Returns whether a constant is made of the file's weights. Results of sines, comparisons or
  /// rounding are not: they are positions, masks or indices.
  [[nodiscard]] bool is_trainable(int constant) const;
  /// Returns the values of a constant. Reads and computes them if necessary.
  [[nodiscard]] std::vector<double> values_of(int constant);
  /// Returns the first tensor of the file from which a constant is made; empty if there is none.
  [[nodiscard]] std::string source_of(int constant) const;
  /// Returns the module of which a constant is the weight or the bias, by its name: "fc" for
  /// "fc.weight"; empty if the name does not show it.
  [[nodiscard]] std::string module_of(int constant) const;

  /// Adds a tensor of the file, an initializer or the output of a Constant node, to the graph of
  /// constants. If `may_train`, a floating-point tensor of more than one element counts as weights
  /// (is_trainable).
  int add_source(const std::string& name, const Constant& constant, bool may_train);
  /// Returns whether any initializers of the file are weights. If none are, values of Constant
  /// nodes may be weights.
  [[nodiscard]] bool has_initializers() const { return has_initializers_; }

  /// Returns the subsequence of random numbers for the next layer that needs one.
  [[nodiscard]] std::uint64_t next_subsequence() { return ++subsequences_; }
  /// Returns whether a tensor is the network's output, or a node that the network needs reads it.
  [[nodiscard]] bool is_read(const std::string& name) const {
    return !name.empty() && read_.contains(name);
  }
  /// Returns the operation that transposes a constant matrix. Later calls for the same constant
  /// return the operation of the first call.
  [[nodiscard]] int turned(int constant);

  /// Appends a layer to the network; its inputs begin with the samples. `weights`: the constant
  /// after which the layer is named; −1: it is named after the node.
  Term add_layer(const Node& node, std::shared_ptr<const LayerKind> kind, std::vector<int> inputs,
                 std::vector<std::pair<std::string, int>> parameters, int weights);
  /// Appends a layer to `graph`, whose layers this translator numbers.
  int append_layer(general::Graph& graph, TranslatedLayer layer, std::vector<int> inputs);
  /// Replaces the network by a graph with the same inputs and parameters. `makers`: by operation.
  void replace_network(general::Graph network, std::vector<const Node*> makers) {
    network_ = std::move(network);
    makers_ = std::move(makers);
  }

 private:
  void add_constants(const onnx_import::Graph& graph);
  void translate(const Node& node);
  void try_translate(const Node& node);
  [[nodiscard]] int brought(int constant, bool trains);
  void keep_makers(const Node& node);

  const Graph& file_;
  Load load_;
  general::Graph network_;
  general::Graph constants_;
  std::vector<std::string> sources_;                // tensors of the file, by input of constants_
  std::map<std::string, int, std::less<>> inputs_;  // operations of constants_, by name
  std::set<int> weights_;                           // operations of constants_ that are weights
  bool has_initializers_ = false;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<int, int> brought_;  // operations of the network, by constant
  std::vector<int> parameters_;
  std::vector<TranslatedLayer> layers_;
  std::vector<const Node*> makers_;  // by operation of the network
  std::deque<Node> added_nodes_;
  std::vector<Problem> problems_;
  std::set<std::string, std::less<>> read_;
  std::map<int, int> turned_;
  std::uint64_t subsequences_ = 0;
};

/// A node's inputs and attributes, converted for its operator. The result belongs to the network's
/// graph if the node reads an activation, otherwise to the graph of constants. Functions throw
/// CannotTranslate if the node lacks what they need.
class Arguments {
 public:
  Arguments(Translator& translator, const Node& node);

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] Translator& translator() { return translator_; }
  [[nodiscard]] general::Graph& graph() {
    return is_network_ ? translator_.network() : translator_.constants();
  }
  /// Makes the result belong to the network, even if the node reads only constants.
  void use_network() { is_network_ = true; }
  /// Makes the result a constant, even if the node reads an activation (only its shape).
  void use_constants() { is_network_ = false; }
  [[nodiscard]] bool is_network() const { return is_network_; }

  [[nodiscard]] std::size_t count() const { return node_.inputs.size(); }
  void check_count(std::size_t wanted) const;
  [[nodiscard]] bool has(std::size_t which) const {
    return which < node_.inputs.size() && !node_.inputs[which].empty();
  }
  [[nodiscard]] const Tensor& tensor(std::size_t which) const;
  [[nodiscard]] bool is_constant(std::size_t which) const { return tensor(which).is_constant; }
  [[nodiscard]] ElementType type(std::size_t which) const { return tensor(which).type; }
  /// Returns the operation of an input in `graph()`. For some operators, a constant that repeats
  /// its values for each sample of the exported file, in a dimension in which another input has
  /// samples, is replaced by the values for one sample.
  [[nodiscard]] Term operand(std::size_t which);
  /// Like `operand`, for weights: a constant becomes a parameter, even with a single element.
  [[nodiscard]] Term weights(std::size_t which);
  /// Returns the sum of a term and an input; the term alone if the input is omitted.
  [[nodiscard]] Term plus(Term x, std::size_t which) { return has(which) ? x + operand(which) : x; }
  /// Returns the range of the type of an input; nothing unless it is known to be an integer type of
  /// 8 or 16 bits.
  [[nodiscard]] std::optional<IntegerRange> range(std::size_t which) const {
    return tensor(which).range;
  }
  /// Appends an operation without inputs to `graph()`.
  [[nodiscard]] Term filled(float value, Extents shape) {
    return {&graph(), graph().number(value, std::move(shape))};
  }
  [[nodiscard]] Term coordinate(Extents shape, int dimension) {
    return {&graph(), graph().coordinate(std::move(shape), dimension)};
  }
  [[nodiscard]] Term constant_of(const Shape& shape, std::vector<double> values) {
    return {&graph(), graph().constant(shape, std::move(values))};
  }
  [[nodiscard]] Extents shape(std::size_t which) const;
  [[nodiscard]] std::size_t rank(std::size_t which) const { return shape(which).size(); }
  /// Returns whether an input can be a layer's weights: a constant that is made of weights, or of
  /// floating-point numbers and not a scalar.
  [[nodiscard]] bool is_weight(std::size_t which) const;
  /// Returns the operation of an input in the graph of constants. `what`: name of the input in
  /// errors.
  [[nodiscard]] int constant(std::size_t which, std::string_view what) const;
  /// Returns the values of a constant input; empty if the input is omitted.
  [[nodiscard]] std::vector<double> numbers(std::size_t which) const;
  /// Returns the values of a constant input as integers. Numbers of samples are multiples of
  /// `samples_prime`.
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t which) const;
  /// Returns the value of a constant input with one element; `fallback` if the input is omitted.
  [[nodiscard]] double number(std::size_t which, double fallback) const;

  [[nodiscard]] bool has_attribute(std::string_view name) const {
    return node_.attributes.contains(name);
  }
  template <class Value>
  [[nodiscard]] Value attribute(std::string_view name, Value fallback) const {
    const auto found = node_.attributes.find(name);
    if (found == node_.attributes.end()) return fallback;
    if (const auto* value = std::get_if<Value>(&found->second)) return *value;
    throw CannotTranslate("its attribute " + std::string(name) + " has another type");
  }
  /// Return an attribute, or the constant input `which` with one element. Beyond ±max_integer, an
  /// attribute is refused and an input is limited, so that operators can multiply it by an extent.
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] std::int64_t integer(std::size_t which, std::int64_t fallback) const;
  /// Returns an attribute with several integers, each limited to ±`max_integer`.
  [[nodiscard]] std::vector<std::int64_t> integer_list(std::string_view name,
                                                       std::vector<std::int64_t> fallback) const;
  [[nodiscard]] bool flag(std::string_view name, bool fallback) const {
    return integer(name, fallback ? 1 : 0) != 0;
  }
  [[nodiscard]] float real(std::string_view name, double fallback) const {
    return static_cast<float>(attribute(name, fallback));
  }
  [[nodiscard]] std::string text(std::string_view name, std::string fallback) const {
    return attribute(name, std::move(fallback));
  }
  /// Returns a number from an attribute or, in later operator sets, from a constant input.
  [[nodiscard]] double number(std::string_view name, std::size_t which, double fallback) const {
    return has_attribute(name) ? attribute(name, fallback) : number(which, fallback);
  }
  /// Returns the dimension that the attribute "axis" names.
  [[nodiscard]] std::size_t axis(std::int64_t fallback, std::size_t rank) const {
    return general::dimension_of(integer("axis", fallback), rank);
  }
  [[nodiscard]] std::size_t axis(std::int64_t fallback) const { return axis(fallback, rank(0)); }
  /// Returns the integers of an attribute or, in later operator sets, of a constant input; nothing
  /// if both are omitted.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view name,
                                                                  std::size_t which) const;

  /// Appends a layer for the node; see Translator::add_layer.
  Term add_layer(std::shared_ptr<const LayerKind> kind, std::vector<int> inputs,
                 std::vector<std::pair<std::string, int>> parameters = {}, int weights = -1);

  /// Sets the type of the results; the default is that of the first input.
  void set_type(ElementType type, std::optional<IntegerRange> range = {}) {
    type_ = type;
    range_ = range;
  }
  /// Sets the type of the results to that of an input.
  void set_type_of(std::size_t which) { set_type(type(which), range(which)); }
  /// Returns the tensor of an output of the node, which `operation` of `graph()` computes.
  [[nodiscard]] Tensor result(int operation) const;

 private:
  [[nodiscard]] int once_per_file(const Tensor& constant) const;
  struct Met {
    std::size_t dimension = 0;
    Extent extent = {};  // extent of that dimension in the other input
  };
  [[nodiscard]] std::optional<Met> samples_met(std::size_t rank) const;
  [[nodiscard]] Term repeated(Term x);

  Translator& translator_;
  const Node& node_;
  bool is_network_ = false;
  std::optional<ElementType> type_;
  std::optional<IntegerRange> range_;  // with `type_`
};

/// Operations for the outputs of a node; −1 for an output that is not supported.
using Outputs = std::vector<int>;
using Integers = std::vector<std::int64_t>;

/// Appends an operator's computation to `graph()` and returns its outputs there.
using Translate = Outputs (*)(Arguments& arguments);
using OperatorTable = std::map<std::string_view, Translate>;

/// Translates an operator with nested graphs, and sets the tensors of its outputs.
using ControlFlow = void (*)(Arguments& arguments);
[[nodiscard]] const std::map<std::string_view, ControlFlow>& control_flow_operators();

/// Returns the translations of operators without nested graphs, by their names in files.
[[nodiscard]] const OperatorTable& operator_table();

[[nodiscard]] OperatorTable attention_operators();
[[nodiscard]] OperatorTable element_operators();
[[nodiscard]] OperatorTable movement_operators();
[[nodiscard]] OperatorTable indexing_operators();
[[nodiscard]] OperatorTable reduction_operators();
[[nodiscard]] OperatorTable product_operators();
[[nodiscard]] OperatorTable resizing_operators();
[[nodiscard]] OperatorTable recurrent_operators();
[[nodiscard]] OperatorTable sampling_operators();
[[nodiscard]] OperatorTable window_operators();

}  // namespace parbench::onnx_import
