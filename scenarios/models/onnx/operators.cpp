// One function an operator, and the patterns of several nodes that are one layer.
#include "scenarios/models/onnx/operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/models/layers/activation.h"
#include "scenarios/models/layers/addition.h"
#include "scenarios/models/layers/batch_norm.h"
#include "scenarios/models/layers/dropout.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/onnx/constants.h"
#include "scenarios/models/onnx/operators/arithmetic.h"
#include "scenarios/models/onnx/operators/attention.h"
#include "scenarios/models/onnx/operators/image_operators.h"
#include "scenarios/models/onnx/operators/image_parts.h"
#include "scenarios/models/onnx/operators/sequences.h"
#include "scenarios/models/onnx/shapes.h"

namespace parbench::onnx_import {
namespace {

using Integers = std::vector<std::int64_t>;

// --- batch normalisation, with what follows it in a residual block ---

bool is_sum_of_two(const Node* node) {
  return node != nullptr && (node->op == "Add" || node->op == "Sum") && node->inputs.size() == 2 &&
         !node->inputs[0].empty() && !node->inputs[1].empty();
}

bool has_constant(const Importer& importer, const Node& node) {
  return std::ranges::any_of(node.inputs, [&](const std::string& name) {
    const Node* from = importer.maker(name);
    return importer.constant(name) != nullptr || (from != nullptr && from->op == "Constant");
  });
}

bool is_relu(const Node* node) { return node != nullptr && node->op == "Relu"; }

void check_batch_norm(const Importer& importer, const NodeView& view) {
  const Shape& image = image_shape(importer, view.activation(0));
  for (std::size_t which = 1; which < 5; ++which) {
    if (view.weights(which, "parameters").shape != Shape{image[0]}) {
      throw CannotMap("its parameters are not one a channel");
    }
  }
}

/// Makes `last` the output of a normalisation. `shortcut` is added ahead of the ReLU.
void add_batch_norm(Importer& importer, const Node& norm, const Node& last, bool relu,
                    const std::vector<int>& shortcut) {
  const NodeView view(importer, norm);
  std::vector<int> inputs{view.activation(0)};
  inputs.insert(inputs.end(), shortcut.begin(), shortcut.end());
  const double epsilon = view.attribute("epsilon", 1e-5);
  importer.add(last, BatchNorm(relu, static_cast<float>(epsilon)), inputs, view.input(1));
  importer.keep_values("scale", view.weights(1, "scale"));
  importer.keep_values("shift", view.weights(2, "shift"));
}

/// Whether a constant has one number for each channel of an image: {C, 1, 1} or {1, C, 1, 1}.
bool is_per_channel(const Constant* constant, const Shape& image) {
  if (constant == nullptr || image.size() != 3) return false;
  const Shape channels{image[0], 1, 1};
  return constant->shape == channels || constant->shape == Shape{1, image[0], 1, 1};
}

/// Whether a node reads, as the only one, a normalisation or its scale and shift by joins_norm.
bool alone_reads_norm(const Importer& importer, const Node& node, const std::string& input) {
  const Node* source = importer.maker(input);
  return source != nullptr && importer.only_reader(*source) == &node &&
         (source->op == "BatchNormalization" || source->op == "Mul" || source->op == "Add");
}

/// Scale and shift of channels behind a normalisation, which nothing else reads, are those that it
/// has anyway: Caffe keeps them in a layer of their own. False for anything else.
bool joins_norm(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (node.inputs.size() != 2) return false;
  const std::size_t which = view.constant(0) == nullptr ? 0 : 1;
  if (view.constant(1 - which) == nullptr || !alone_reads_norm(importer, node, view.input(which))) {
    return false;
  }
  const int norm = view.activation(which);
  const auto* kind = importer.kind_of<BatchNorm>(norm);
  if (kind == nullptr || kind->relu() ||
      !is_per_channel(view.constant(1 - which), importer.shape_of(norm))) {
    return false;
  }
  importer.forget_values(norm);
  importer.alias(node, norm);
  return true;
}

/// A ReLU becomes a part of the normalisation in front of it. False where there is none.
bool clamps_norm(Importer& importer, const Node& relu) {
  const NodeView view(importer, relu);
  if (!alone_reads_norm(importer, relu, view.input(0))) return false;
  const int norm = view.activation(0);
  const auto* kind = importer.kind_of<BatchNorm>(norm);
  if (kind == nullptr || kind->relu()) return false;
  importer.replace(norm, BatchNorm(true, kind->epsilon()));
  importer.alias(relu, norm);
  return true;
}

/// A ReLU that alone reads it, or that alone reads its sum with another activation, becomes a part
/// of it when its turn comes.
void map_batch_norm(Importer& importer, const Node& node) {
  check_batch_norm(importer, NodeView(importer, node));
  const Node* reader = importer.only_reader(node);
  if (is_relu(reader)) return importer.absorb(node);
  if (is_sum_of_two(reader) && !importer.is_absorbed(*reader) &&
      is_relu(importer.only_reader(*reader)) && !has_constant(importer, *reader)) {
    importer.absorb(*reader);
    return importer.absorb(node);
  }
  add_batch_norm(importer, node, node, false, {});
}

/// The normalisation that a sum was absorbed for, and its other input.
void add_residual_end(Importer& importer, const Node& sum, const Node& relu) {
  for (std::size_t which = 0; which < 2; ++which) {
    const Node* norm = importer.maker(sum.inputs[which]);
    if (norm == nullptr || norm->op != "BatchNormalization" || !importer.is_absorbed(*norm))
      continue;
    const int shortcut = importer.activation(sum.inputs[1 - which]);
    return add_batch_norm(importer, *norm, relu, true, {shortcut});
  }
  throw CannotMap("the sum in front of it has no normalisation");
}

void map_relu(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Node* source = importer.maker(view.input(0));
  if (source != nullptr && importer.is_absorbed(*source)) {
    if (source->op == "BatchNormalization")
      return add_batch_norm(importer, *source, node, true, {});
    return add_residual_end(importer, *source, node);
  }
  if (clamps_norm(importer, node)) return;
  importer.add_elementwise(node, Activation(ActivationKind::relu), importer.view(view.input(0)));
}

// --- other functions of one element ---

template <ActivationKind kind>
void map_activation(Importer& importer, const Node& node) {
  importer.add_elementwise(node, Activation(kind),
                           importer.view(NodeView(importer, node).input(0)));
}

void map_gelu(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const bool by_tanh = view.attribute("approximate", std::string("none")) == "tanh";
  importer.add_elementwise(node,
                           Activation(by_tanh ? ActivationKind::gelu_tanh : ActivationKind::gelu),
                           importer.view(view.input(0)));
}

void map_clip(Importer& importer, const Node& node) {
  constexpr double unlimited = 3.4e38;
  const NodeView view(importer, node);
  importer.add_elementwise(
      node,
      Activation(ActivationKind::clip, static_cast<float>(view.scalar("min", 1, -unlimited)),
                 static_cast<float>(view.scalar("max", 2, unlimited))),
      importer.view(view.input(0)));
}

/// The node changes nothing of its first input.
void pass_on(Importer& importer, const Node& node) {
  if (passes_scores(importer, node)) return;
  View same = importer.view(NodeView(importer, node).input(0));
  importer.set_view(node.outputs.at(0), std::move(same));
}

/// Its masks become those of training, whatever the file says of inference.
void map_dropout(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const double probability = view.scalar("ratio", 1, 0.5);
  if (probability == 0) return pass_on(importer, node);
  if (importer.scores(view.input(0)) != nullptr) {
    throw CannotMap("no layer drops shares of attention; export it with a dropout of 0 there");
  }
  const bool possible = probability > 0 && probability < 1;  // false for NaN
  if (!possible) throw CannotMap("its ratio is not between 0 and 1");
  importer.add_elementwise(
      node, RandomDropout(static_cast<float>(probability), importer.next_subsequence()),
      importer.view(view.input(0)));
}

// --- products and sums ---

/// Weights are {inputs, outputs}, or with `by_outputs` the other way round, as the layer has them.
/// `bias` may be null.
void add_linear(Importer& importer, const NodeView& view, const Node& last, const View& source,
                const Constant* bias, bool by_outputs) {
  const Constant& weights = view.weights(1, "weights");
  const std::int64_t inputs = weights.shape.at(by_outputs ? 1 : 0);
  const std::int64_t outputs = weights.shape.at(by_outputs ? 0 : 1);
  const Shape shape = importer.shape_of(source.activation);
  if (shape.size() > 2) throw CannotMap("its input is an image, which nothing has flattened");
  if (shape.back() != inputs) {
    throw CannotMap(
        fmt::format("its weights take {} values, and its input has {}; another --image "
                    "gives another number",
                    inputs, shape.back()));
  }
  if (!keeps_rows(source, shape)) {
    throw CannotMap(
        "it reads a part of a tensor, or one whose last dimension does not belong to a layer");
  }
  importer.check_whole(source);
  View made = source;
  const int layer =
      importer.add(last, Linear(outputs, bias != nullptr), {source.activation}, view.input(1));
  importer.set_view(last.outputs.at(0), with_row_length(std::move(made), layer, inputs, outputs));
  importer.keep_values("weights", weights, !by_outputs);
  if (bias != nullptr) importer.keep_values("bias", *bias);
}

/// Whether an addend is a constant vector.
bool has_bias_for(const Importer& importer, const Node& sum) {
  return std::ranges::any_of(sum.inputs, [&](const std::string& name) {
    const Constant* constant = importer.constant(name);
    return constant != nullptr && constant->shape.size() == 1;
  });
}

/// alpha·x·W + beta·b, with scaled activations in place of scaled weights, which training would
/// take other steps with: beta·((alpha/beta·x)·W + b).
void map_gemm(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const double alpha = view.attribute("alpha", 1.0);
  const double beta = view.attribute("beta", 1.0);
  const bool has_bias = view.has_input(2) && beta != 0;
  if (alpha == 0) throw CannotMap("it multiplies its product with 0 (alpha)");
  const Shape& weights = view.weights(1, "weights").shape;
  View source = importer.view(view.input(0));
  if (weights.size() != 2 || source.dimensions.size() != 2) {
    throw CannotMap("only products of rows with weights are supported");
  }
  if (view.attribute("transA", std::int64_t{0}) != 0) source = transposed(source, {1, 0});
  const bool is_transposed = view.attribute("transB", std::int64_t{0}) != 0;
  const std::int64_t outputs = is_transposed ? weights[0] : weights[1];
  if (has_bias) check_bias(view, 2, outputs);
  source = scaled(importer, node, source, has_bias ? alpha / beta : alpha);
  add_linear(importer, view, node, source, has_bias ? view.constant(2) : nullptr, is_transposed);
  if (has_bias) (void)scaled(importer, node, importer.view(node.outputs.at(0)), beta);
}

/// Where a sum with a bias alone reads it, its layer is made when the turn of that comes.
void map_matmul(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (node.inputs.size() == 2 && view.constant(0) == nullptr && view.constant(1) == nullptr) {
    return map_attention_product(importer, node);
  }
  if (view.weights(1, "second factors").shape.size() != 2) {
    throw CannotMap("its second factor must be a matrix");
  }
  const View source = importer.view(view.input(0));
  const Node* sum = importer.only_reader(node);
  const bool has_bias = sum != nullptr && sum->op == "Add" && is_sum_of_two(sum) &&
                        !importer.is_absorbed(*sum) && has_bias_for(importer, *sum);
  if (!has_bias) return add_linear(importer, view, node, source, nullptr, false);
  importer.absorb(node);
}

/// The product that a sum adds its bias to, and the place of the bias; null where there is none.
std::pair<const Node*, std::size_t> product_of(const Importer& importer, const Node& sum) {
  for (std::size_t which = 0; which < 2; ++which) {
    const Node* product = importer.maker(sum.inputs[which]);
    if (product != nullptr && product->op == "MatMul" && importer.is_absorbed(*product)) {
      return {product, 1 - which};
    }
  }
  return {nullptr, 0};
}

/// A factor of all elements, or of each channel; or of the scores of attention.
void map_product(Importer& importer, const Node& node) {
  if (joins_norm(importer, node) || scales_scores(importer, node) ||
      computes_with_constant(importer, node)) {
    return;
  }
  throw CannotMap("it multiplies two activations");
}

void map_division(Importer& importer, const Node& node) {
  if (scales_scores(importer, node) || computes_with_constant(importer, node)) return;
  throw CannotMap("it divides by an activation");
}

void add_sum(Importer& importer, const Node& node, const View& a, const View& b) {
  const Shape sample = importer.shape_of(a.activation);
  const bool fits =
      importer.shape_of(b.activation) == sample &&
      (a.dimensions == b.dimensions || (is_in_order(a, sample) && is_in_order(b, sample)));
  if (!fits) throw CannotMap("its inputs have other shapes");
  importer.check_whole(a);
  importer.check_whole(b);
  View made = a;
  made.activation = importer.add(node, Addition(), {a.activation, b.activation});
  importer.set_view(node.outputs.at(0), std::move(made));
}

void map_sum(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (!is_sum_of_two(&node)) throw CannotMap("it adds up other than two inputs");
  if (const auto [product, bias] = product_of(importer, node); product != nullptr) {
    const NodeView factors(importer, *product);
    const Shape& weights = factors.weights(1, "second factors").shape;
    check_bias(view, bias, weights[1]);
    const View source = importer.view(factors.input(0));
    return add_linear(importer, factors, node, source, view.constant(bias), false);
  }
  if (masks_scores(importer, node) || joins_norm(importer, node)) return;
  if (map_positions(importer, node) || computes_with_constant(importer, node)) return;
  add_sum(importer, node, importer.view(view.input(0)), importer.view(view.input(1)));
}

/// Of two activations: the sum with the negated second one.
void map_difference(Importer& importer, const Node& node) {
  if (computes_with_constant(importer, node)) return;
  const NodeView view(importer, node);
  const View minuend = importer.view(view.input(0));
  const View subtrahend = importer.view(view.input(1));
  if (shape_of(minuend) != shape_of(subtrahend)) throw CannotMap("its inputs have other shapes");
  add_sum(importer, node, minuend, scaled(importer, node, subtrahend, -1));
}

// --- ends ---

/// As the network's end it is a part of the loss.
void map_softmax(Importer& importer, const Node& node) {
  if (makes_shares(importer, node)) return;
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const auto axis = view.attribute("axis", std::int64_t{-1});
  const bool is_end = importer.is_output(node.outputs.at(0)) && (axis == 1 || axis == -1);
  if (!is_end || importer.shape_of(source).size() != 1) {
    throw CannotMap("it is not the end of the network, behind a row of classes");
  }
  importer.set_loss(Loss::cross_entropy);
  importer.alias(node, source);
}

}  // namespace

const std::map<std::string_view, MapNode>& operators() {
  static const std::map<std::string_view, MapNode> all{
      {"Add", map_sum},
      {"AveragePool", map_average_pool},
      {"BatchNormalization", map_batch_norm},
      {"Cast", map_cast},
      {"Clip", map_clip},
      {"Constant", map_constant},
      {"ConstantOfShape", map_constant_of_shape},
      {"Concat", map_concatenation},
      {"Conv", map_convolution},
      {"ConvTranspose", map_transposed_convolution},
      {"Div", map_division},
      {"Dropout", map_dropout},
      {"Flatten", map_flatten},
      {"Gather", map_gather},
      {"Gelu", map_gelu},
      {"Gemm", map_gemm},
      {"GlobalAveragePool", map_global_average_pool},
      {"Identity", pass_on},
      {"LRN", map_response_norm},
      {"LSTM", map_lstm},
      {"LayerNormalization", map_layer_norm},
      {"LogSoftmax", map_softmax},
      {"MatMul", map_matmul},
      {"MaxPool", map_max_pool},
      {"Mul", map_product},
      {"Pad", map_pad},
      {"ReduceMean", map_mean},
      {"Relu", map_relu},
      {"Reshape", map_reshape},
      {"Shape", map_shape},
      {"Sigmoid", map_activation<ActivationKind::sigmoid>},
      {"Slice", map_slice},
      {"Softmax", map_softmax},
      {"Split", map_split},
      {"Squeeze", map_squeeze},
      {"Sub", map_difference},
      {"Sum", map_sum},
      {"Tanh", map_activation<ActivationKind::tanh>},
      {"Transpose", map_transpose},
      {"Unsqueeze", map_unsqueeze},
      {"Where", map_where}};
  return all;
}

}  // namespace parbench::onnx_import
