// The pass that makes layers with kernels of their own from groups of general operations: for speed
// alone. Each fusion replaces one operation of the graph by a layer that computes the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// A graph under construction, whose operations so far are fused. Indices are of its operations.
class Fusing {
 public:
  /// Rewrites the translator's network as far as `output` needs it.
  explicit Fusing(Translator& translator) : translator_(translator) {}
  /// Returns the output in the new network.
  [[nodiscard]] int run(int output);

  [[nodiscard]] general::Graph& graph() { return graph_; }
  [[nodiscard]] general::Graph& constants() { return translator_.constants(); }
  [[nodiscard]] Translator& translator() { return translator_; }
  [[nodiscard]] const general::Operation& at(int index) const { return graph_.at(index); }
  [[nodiscard]] const general::Extents& shape(int index) const { return graph_.shape(index); }

  /// Whether one operation reads a result, so that nothing else needs what replaces it.
  [[nodiscard]] bool has_one_reader(int index) const {
    const auto place = static_cast<std::size_t>(index);
    return place >= readers_.size() || readers_[place] == 1;  // or of the fusion itself
  }
  /// The general operation that an activation replaces; other operations are their own.
  [[nodiscard]] int unfused(int index) const;
  /// Whether layers exchange a tensor as it is: the input, or a layer's output.
  [[nodiscard]] bool is_exchanged(int index) const {
    return at(index).kind == general::OpKind::layer || at(index).kind == general::OpKind::input;
  }
  /// The layer that an operation is; null where it is none.
  [[nodiscard]] const TranslatedLayer* layer_of(int index) const;
  /// Its kind; null where it is of another one.
  template <class Kind>
  [[nodiscard]] const Kind* kind_of(int index) const {
    const TranslatedLayer* layer = layer_of(index);
    return layer == nullptr ? nullptr : dynamic_cast<const Kind*>(layer->kind.get());
  }

  /// The number that an operation repeats; nothing where it is none.
  [[nodiscard]] std::optional<double> number_of(int index) const;
  /// The constant behind a parameter that varies in those dimensions alone, repeated in the others;
  /// nothing where it is none.
  [[nodiscard]] std::optional<int> parameter_along(int index, std::size_t first,
                                                   std::size_t count = 1) const;

  /// Appends a layer. Its name: `like`'s where that is not null, else that of the node which made
  /// the operation that it replaces.
  int add_layer(std::shared_ptr<const LayerKind> kind, std::vector<int> inputs,
                std::vector<std::pair<std::string, int>> parameters = {},
                const TranslatedLayer* like = nullptr);
  /// Names an operation that a fusion has appended: after the node which made the operation that
  /// it replaces, with a suffix, and an operator.
  void set_maker(int index, std::string_view op, std::string_view suffix);

 private:
  [[nodiscard]] int copied(const general::Operation& operation);
  [[nodiscard]] int in_one_piece(int index);
  void keep(int from, int to, std::size_t size_before);

  Translator& translator_;
  general::Graph graph_;
  std::vector<int> copies_;  // by operation of the translator's network; −1: not needed
  std::vector<int> readers_;
  std::vector<int> unfused_;
  std::vector<const Node*> makers_;
  const Node* maker_ = nullptr;  // of the operation that is being replaced
};

/// Whether an operation computes that function of its inputs' elements.
[[nodiscard]] inline bool is_element(const general::Operation& operation, ElementOp op) {
  return operation.kind == general::OpKind::element && operation.element == op;
}

/// What replaces an operation; nothing where the pattern does not end there.
using Fusion = std::optional<int> (*)(Fusing& fusing, int index);

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

/// A function of one tensor, element by element, as the operations of a graph below one of them.
class ScalarFunction {
 public:
  /// Nothing where an operation reads several tensors, or none.
  [[nodiscard]] static std::optional<ScalarFunction> below(const Fusing& fusing, int index);
  /// The same of that tensor; nothing where the operation reads another one.
  [[nodiscard]] static std::optional<ScalarFunction> of(const Fusing& fusing, int index,
                                                        int argument);

  /// The tensor that it is a function of.
  [[nodiscard]] int argument() const { return argument_; }
  [[nodiscard]] std::vector<double> at(const std::vector<double>& points) const;

 private:
  [[nodiscard]] int copied(const Fusing& fusing, int index);

  general::Graph graph_;
  int argument_ = -1;
  int result_ = -1;
};

}  // namespace parbench::onnx_import
