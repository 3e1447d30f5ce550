// The pass that replaces groups of general operations by layers with specialised kernels, only for
// speed. Each fusion replaces one operation by a layer with the same result.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// The graph that the pass builds. Indices refer to its operations.
class Fusing {
 public:
  explicit Fusing(Translator& translator) : translator_(translator) {}
  /// Replaces the translator's network by a fused one with the operations on which `output`
  /// depends; returns the operation of the fused network that replaces `output`.
  [[nodiscard]] int run(int output);

  [[nodiscard]] general::Graph& graph() { return graph_; }
  [[nodiscard]] const general::Graph& graph() const { return graph_; }
  [[nodiscard]] general::Graph& constants() { return translator_.constants(); }
  [[nodiscard]] Translator& translator() { return translator_; }
  [[nodiscard]] const general::Operation& at(int index) const { return graph_.at(index); }
  [[nodiscard]] const general::Extents& shape(int index) const { return graph_.shape(index); }

  /// Returns whether a result has a single reader, so that it may be replaced for that reader.
  [[nodiscard]] bool has_one_reader(int index) const {
    const auto slot = static_cast<std::size_t>(index);
    // operations that the current fusion has appended are not counted yet
    return slot >= readers_.size() || readers_[slot] == 1;
  }
  /// Returns the general operation that an activation replaced; for other operations, the operation
  /// itself.
  [[nodiscard]] int unfused(int index) const;
  /// Returns whether a tensor is exchanged between layers: the input, or a layer's output.
  [[nodiscard]] bool is_exchanged(int index) const {
    return at(index).kind == general::OpKind::layer || at(index).kind == general::OpKind::input;
  }
  /// Returns the layer of an operation; null if it is not a layer.
  [[nodiscard]] const TranslatedLayer* layer_of(int index) const;
  /// Returns the kind of the layer of an operation; null if it is not a layer of class `Kind`.
  template <class Kind>
  [[nodiscard]] const Kind* kind_of(int index) const {
    const TranslatedLayer* layer = layer_of(index);
    return layer == nullptr ? nullptr : dynamic_cast<const Kind*>(layer->kind.get());
  }

  /// Returns the number that all elements of an operation equal; nothing if there is no such
  /// number.
  [[nodiscard]] std::optional<double> number_of(int index) const;
  /// Returns the constant of a parameter that varies only in the dimensions [first, first + count)
  /// and is repeated in the others; nothing for other operations.
  [[nodiscard]] std::optional<int> parameter_along(int index, std::size_t first,
                                                   std::size_t count = 1) const;

  /// Appends a layer, named after the module of its first parameter or the node of the replaced
  /// operation.
  int add_layer(std::shared_ptr<const LayerKind> kind, std::vector<int> inputs,
                std::vector<std::pair<std::string, int>> parameters = {});
  /// Appends a layer of another kind with the name and the parameters of `like`.
  int add_layer(std::shared_ptr<const LayerKind> kind, std::vector<int> inputs,
                TranslatedLayer like);
  /// Sets the node of an operation that a fusion has appended: a new node with the operator `op`,
  /// named after the replaced operation's node with a `suffix`.
  void set_maker(int index, std::string_view op, std::string_view suffix);

 private:
  [[nodiscard]] int copied(const general::Operation& operation);
  [[nodiscard]] int in_one_piece(int index);
  void keep(int from, int to, std::size_t size_before);

  Translator& translator_;
  general::Graph graph_;
  std::vector<int> copies_;  // by operation of the translator's network; −1: not copied
  std::vector<int> readers_;
  std::vector<int> unfused_;
  std::vector<const Node*> makers_;
  const Node* maker_ = nullptr;  // node of the operation that is being copied or replaced
};

/// Returns whether an operation applies `op` to the elements of its inputs.
[[nodiscard]] inline bool is_element(const general::Operation& operation, ElementOp op) {
  return operation.kind == general::OpKind::element && operation.element == op;
}

/// Returns what `find` returns for one input of a commutative operation, and the other input;
/// nothing if `find` returns nothing for both inputs.
template <class Find>
[[nodiscard]] auto find_input(const general::Operation& operation, Find find)
    -> std::optional<std::pair<typename decltype(find(0))::value_type, int>> {
  for (std::size_t which = 0; which < 2; ++which) {
    const auto found = find(operation.inputs[which]);
    if (found) return std::pair(*found, operation.inputs[1 - which]);
  }
  return std::nullopt;
}

// Each fusion returns the replacement of operation `index`; nothing if its pattern does not end
// there.
[[nodiscard]] std::optional<int> fused_activation(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_addition(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_attention(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_bias(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_channel_movement(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_channel_scale(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_global_pool(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_layer_norm(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_padding(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_pixels(Fusing& fusing, int index);
[[nodiscard]] std::optional<int> fused_relu(Fusing& fusing, int index);

/// A function of one tensor: the operations of a graph that compute a result from it.
class Function {
 public:
  /// Returns the element-wise function that computes an operation. `argument`: the tensor that is
  /// the argument; −1: any. Nothing if the operation depends on several tensors, or none.
  [[nodiscard]] static std::optional<Function> of_elements(const Fusing& fusing, int index,
                                                           int argument = -1);
  /// Returns the function from row to row that computes an operation: element-wise operations, and
  /// at least one reduction over the last dimension. Nothing for other operations.
  [[nodiscard]] static std::optional<Function> of_rows(const Fusing& fusing, int index);

  [[nodiscard]] int argument() const { return argument_; }
  /// Returns the numbers among the operands.
  [[nodiscard]] const std::vector<double>& numbers() const { return numbers_; }
  /// Returns the results at several points or, for a function of rows, for one row.
  [[nodiscard]] std::vector<double> at(const std::vector<double>& points) const;

 private:
  [[nodiscard]] static std::optional<Function> found(Function function, const Fusing& fusing,
                                                     int index);
  [[nodiscard]] int copied(const Fusing& fusing, int index);
  [[nodiscard]] int made(const Fusing& fusing, int index);
  [[nodiscard]] general::Extents shape_of(const general::Extents& shape) const;

  general::Graph graph_;
  std::int64_t width_ = 0;     // elements of a row; 0: a function of elements
  std::map<int, int> copies_;  // by operation of the network; −1: not a part of the function
  std::vector<double> numbers_;
  int argument_ = -1;
  int result_ = -1;
  bool is_reduced_ = false;
};

}  // namespace parbench::onnx_import
