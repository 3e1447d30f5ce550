// From the nodes of an ONNX graph to general operations: what operators have in common.
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

#include "scenarios/models/general/graph.h"
#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/onnx/reading/graph.h"

namespace parbench::onnx_import {

/// Why a node cannot be translated. No std::logic_error: those are faults of the translator.
class CannotTranslate : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Stands for the number of samples among the values of constants that follow from shapes: a prime
/// that no shape has.
inline constexpr std::int64_t samples_prime = 1'000'003;

/// Bound on integers that are no numbers of samples, beyond every extent: their products with one
/// another and with a few gates or sides fit into 64 bits.
inline constexpr std::int64_t max_integer = std::int64_t{1} << 30;

/// Extents of a shape that was computed from others, where multiples of the prime have samples.
[[nodiscard]] general::Extents extents_of_numbers(const std::vector<std::int64_t>& numbers);

/// A tensor of the file: an operation of the network's graph, or of the graph of constants.
struct Tensor {
  bool is_constant = true;
  int operation = 0;
  ElementType type = ElementType::floating;
};

/// A parameter of the network: the constant that it begins as.
struct TranslatedParameter {
  int constant = 0;
  std::string name;
};

/// A layer of a kind of its own, and the constants that its parameters begin as, by role.
struct TranslatedLayer {
  std::shared_ptr<const LayerKind> kind;
  std::string name;
  std::vector<std::pair<std::string, int>> parameters;
};

class Translator {
 public:
  /// Values of a tensor of the file.
  using Load = std::function<std::vector<float>(const std::string& name)>;

  /// The graph outlives the translator.
  Translator(const Graph& file, Load load);

  /// A tensor from outside, with its samples where `shape` says.
  void add_input(const std::string& name, general::Extents shape, ElementType type);
  /// A tensor that stands for one from outside.
  void add_result(const std::string& name, int operation, ElementType type) {
    tensors_[name] = {.is_constant = false, .operation = operation, .type = type};
  }
  void add_constant(const std::string& name, const Shape& shape, std::vector<double> values,
                    ElementType type);
  /// Translates nodes in their order. Problems are collected; what depends on a node that has one
  /// is left out.
  void translate(const std::vector<const Node*>& nodes);
  /// The same for a branch, or an iteration of a loop, whose inputs have been set. What depends on
  /// its problems is left out.
  void translate_nested(const onnx_import::Graph& nested);
  /// A name for a tensor that there is.
  void set(const std::string& name, const Tensor& tensor) { tensors_[name] = tensor; }
  /// Leaves out what reads a name that nothing has made.
  [[nodiscard]] const Tensor& get(const std::string& name) const;

  struct Problem {
    const Node* node;
    std::string reason;
  };
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

  [[nodiscard]] general::Graph& network() { return network_; }
  [[nodiscard]] general::Graph& constants() { return constants_; }
  [[nodiscard]] std::int64_t opset() const { return file_.opset; }
  /// How many samples the file was exported with, where its shapes say that number; else 1.
  [[nodiscard]] std::int64_t samples_of_file() const;
  [[nodiscard]] const std::vector<TranslatedParameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<TranslatedLayer>& layers() const { return layers_; }
  /// The first node that made an operation of the network.
  [[nodiscard]] const Node* maker_of(int operation) const;
  /// Keeps a node that is not in the file.
  const Node& add_node(Node node) { return added_nodes_.emplace_back(std::move(node)); }

  /// Null for a name that nothing has made.
  [[nodiscard]] const Tensor* find(const std::string& name) const;
  /// The operation of the network for a tensor. A constant becomes a parameter where it is made of
  /// the file's weights, else numbers.
  /// `trains`: it is one even with a single element.
  [[nodiscard]] int in_network(const Tensor& tensor, bool trains = false);
  /// Whether a constant is made of the file's weights.
  [[nodiscard]] bool is_trainable(int constant) const;
  /// Whether a constant of the file is of whole numbers without a sign.
  [[nodiscard]] bool is_unsigned(const std::string& name) const;
  /// The values of a constant, computed where they are not known yet.
  [[nodiscard]] std::vector<double> values_of(int constant);
  /// The tensor of the file that a constant is made of; its first one.
  [[nodiscard]] std::string source_of(int constant) const;
  /// The module that a constant is the weight or the bias of, by its name: "fc" of "fc.weight";
  /// empty where the name does not say it.
  [[nodiscard]] std::string module_of(int constant) const;

  /// The operation of constants for a tensor of the file: of an initializer, or of a Constant
  /// node's output. A floating-point tensor of more than one element is weights if `may_train`.
  int add_source(const std::string& name, const Constant& constant, bool may_train);
  /// Whether the weights are initializers, not values of Constant nodes.
  [[nodiscard]] bool has_initializers() const { return has_initializers_; }

  /// The subsequence of the next layer that draws numbers.
  [[nodiscard]] std::uint64_t next_subsequence() { return ++subsequences_; }
  /// Whether a node reads a tensor.
  [[nodiscard]] bool is_read(const std::string& name) const { return read_.contains(name); }
  /// A matrix of constants with its dimensions exchanged; the same one each time.
  [[nodiscard]] int turned(int constant);

  /// Appends a layer of a kind of its own to the network. Its inputs have the samples in front.
  /// `weights`: the constant that it is named after; −1: none.
  int add_layer(const Node& node, std::shared_ptr<const LayerKind> kind, std::vector<int> inputs,
                std::vector<std::pair<std::string, int>> parameters, int weights);
  /// The same in another graph whose layers are those of this network.
  int append_layer(general::Graph& graph, TranslatedLayer layer, std::vector<int> inputs);
  /// Puts a graph with the same inputs and parameters in place of the network. `makers`: by
  /// operation.
  void replace_network(general::Graph network, std::vector<const Node*> makers) {
    network_ = std::move(network);
    makers_ = std::move(makers);
  }

 private:
  void add_constants();
  void translate(const Node& node);
  void try_translate(const Node& node);
  [[nodiscard]] int brought(int constant, bool trains);
  void keep_makers(const Node& node);

  const Graph& file_;
  Load load_;
  general::Graph network_;
  general::Graph constants_;
  std::vector<std::string> sources_;                // tensors of the file, by input of constants_
  std::map<std::string, int, std::less<>> inputs_;  // of constants_, by name
  std::set<int> weights_;                           // inputs of constants_ that are weights
  bool has_initializers_ = false;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<int, int> brought_;  // operations of the network by constant
  std::vector<TranslatedParameter> parameters_;
  std::vector<TranslatedLayer> layers_;
  std::vector<const Node*> makers_;  // by operation of the network
  std::deque<Node> added_nodes_;
  std::vector<Problem> problems_;
  std::set<std::string, std::less<>> read_;
  std::map<int, int> turned_;
  std::uint64_t subsequences_ = 0;
};

/// A node's inputs and attributes as its operator wants them, and the graph that its result belongs
/// to: the network's where it reads an activation, else that of constants. All functions throw
/// CannotTranslate where there is not what is asked for.
class Arguments {
 public:
  Arguments(Translator& translator, const Node& node);

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] Translator& translator() { return translator_; }
  [[nodiscard]] general::Graph& graph() {
    return is_network_ ? translator_.network() : translator_.constants();
  }
  /// Makes the result belong to the network, though the node reads constants alone.
  void use_network() { is_network_ = true; }
  /// Makes the result a constant, though the node reads an activation, whose shape it takes.
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
  /// The operation of an input in `graph()`. Of a constant that repeats itself for each sample that
  /// the file was exported with, and meets samples there: one of them.
  [[nodiscard]] int operand(std::size_t which);
  /// The same of weights: what is constant is trained, even a single element.
  [[nodiscard]] int weights(std::size_t which);
  [[nodiscard]] general::Extents shape(std::size_t which) const;
  [[nodiscard]] std::size_t rank(std::size_t which) const { return shape(which).size(); }
  /// Whether an input can be the weights of a layer: a constant of several floating-point numbers.
  [[nodiscard]] bool is_weight(std::size_t which) const;
  /// The operation of an input in the graph of constants.
  [[nodiscard]] int constant(std::size_t which, std::string_view what) const;
  /// The values of a constant input. Where the input is left out: none.
  [[nodiscard]] std::vector<double> numbers(std::size_t which) const;
  /// The same as integers. Those that count samples are multiples of `samples_prime`.
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t which) const;
  /// The value of a constant input with one element.
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
  /// An attribute or the constant input `which` with one element, at most `max_integer` away from
  /// 0: operators can multiply it by an extent.
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] std::int64_t integer(std::size_t which, std::int64_t fallback) const;
  /// An attribute with several integers, each limited to `max_integer`.
  [[nodiscard]] std::vector<std::int64_t> integer_list(std::string_view name,
                                                       std::vector<std::int64_t> fallback) const;
  [[nodiscard]] bool flag(std::string_view name, bool fallback) const {
    return integer(name, fallback ? 1 : 0) != 0;
  }
  /// Of an attribute, or of a constant input, where later operator sets have them; nothing where
  /// both are left out.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view name,
                                                                  std::size_t which) const;

  /// The type of the results: that of the first input unless it is set.
  void set_type(ElementType type) { type_ = type; }
  [[nodiscard]] ElementType result_type() const;

 private:
  [[nodiscard]] int once_per_file(const Tensor& constant) const;
  struct Met {
    std::size_t dimension = 0;
    general::Extent extent = {};  // of the other input
  };
  [[nodiscard]] std::optional<Met> samples_met(std::size_t rank) const;
  [[nodiscard]] int repeated(int x);

  Translator& translator_;
  const Node& node_;
  bool is_network_ = false;
  std::optional<ElementType> type_;
};

/// Operations that a node has appended, by output.
using Outputs = std::vector<int>;
using Integers = std::vector<std::int64_t>;

/// Appends what an operator computes to `graph()` and returns its outputs there.
using Translate = Outputs (*)(Arguments& arguments);
using OperatorTable = std::map<std::string_view, Translate>;

/// Operators with nested graphs set the tensors of their outputs themselves.
using ControlFlow = void (*)(Arguments& arguments);
[[nodiscard]] const std::map<std::string_view, ControlFlow>& control_flow_operators();

/// All other operators, by their names in files.
[[nodiscard]] const OperatorTable& operator_table();

// The parts of the table.
[[nodiscard]] OperatorTable attention_operators();
[[nodiscard]] OperatorTable element_operators();
[[nodiscard]] OperatorTable loss_operators();
[[nodiscard]] OperatorTable onnxruntime_operators();
[[nodiscard]] OperatorTable movement_operators();
[[nodiscard]] OperatorTable indexing_operators();
[[nodiscard]] OperatorTable reduction_operators();
[[nodiscard]] OperatorTable product_operators();
[[nodiscard]] OperatorTable convolution_operators();
[[nodiscard]] OperatorTable pooling_operators();
[[nodiscard]] OperatorTable resizing_operators();
[[nodiscard]] OperatorTable recurrent_operators();
[[nodiscard]] OperatorTable quantising_operators();
[[nodiscard]] OperatorTable sampling_operators();

}  // namespace parbench::onnx_import
