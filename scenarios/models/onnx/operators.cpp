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
#include "scenarios/models/layers/channels.h"
#include "scenarios/models/layers/dropout.h"
#include "scenarios/models/layers/flatten.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/onnx/image_operators.h"
#include "scenarios/models/onnx/sequences.h"

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
  importer.add(node, Activation(ActivationKind::relu), {view.activation(0)});
}

// --- other functions of one element ---

template <ActivationKind kind>
void map_activation(Importer& importer, const Node& node) {
  importer.add(node, Activation(kind), {NodeView(importer, node).activation(0)});
}

void map_gelu(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const bool by_tanh = view.attribute("approximate", std::string("none")) == "tanh";
  importer.add(node, Activation(by_tanh ? ActivationKind::gelu_tanh : ActivationKind::gelu),
               {view.activation(0)});
}

void map_clip(Importer& importer, const Node& node) {
  constexpr double unlimited = 3.4e38;
  const NodeView view(importer, node);
  importer.add(
      node,
      Activation(ActivationKind::clip, static_cast<float>(view.scalar("min", 1, -unlimited)),
                 static_cast<float>(view.scalar("max", 2, unlimited))),
      {view.activation(0)});
}

/// Its masks become those of training, whatever the file says of inference.
void map_dropout(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const double probability = view.scalar("ratio", 1, 0.5);
  if (probability == 0) return importer.alias(node, view.activation(0));
  const bool possible = probability > 0 && probability < 1;  // false for NaN
  if (!possible) throw CannotMap("its ratio is not between 0 and 1");
  importer.add(node, RandomDropout(static_cast<float>(probability), importer.next_subsequence()),
               {view.activation(0)});
}

// --- products and sums ---

/// Weights are {inputs, outputs}, or with `by_outputs` the other way round, as the layer has them.
/// `bias` may be null.
void add_linear(Importer& importer, const NodeView& view, const Node& last, const Constant* bias,
                bool by_outputs) {
  const Constant& weights = view.weights(1, "weights");
  const std::int64_t inputs = weights.shape.at(by_outputs ? 1 : 0);
  const std::int64_t outputs = weights.shape.at(by_outputs ? 0 : 1);
  const int source = view.activation(0);
  const Shape& shape = importer.shape_of(source);
  if (shape.size() > 2) throw CannotMap("its input is an image, which nothing has flattened");
  if (shape.back() != inputs) {
    throw CannotMap(
        fmt::format("its weights take {} values, and its input has {}; another --image "
                    "gives another number",
                    inputs, shape.back()));
  }
  importer.add(last, Linear(outputs, bias != nullptr), {source}, view.input(1));
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

void map_gemm(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const bool is_plain = view.attribute("alpha", 1.0) == 1.0 && view.attribute("beta", 1.0) == 1.0 &&
                        view.attribute("transA", std::int64_t{0}) == 0;
  if (!is_plain) throw CannotMap("it scales or transposes its input");
  const Shape& weights = view.weights(1, "weights").shape;
  if (weights.size() != 2 || importer.shape_of(view.activation(0)).size() != 1) {
    throw CannotMap("it is no layer of rows and weights");
  }
  const bool transposed = view.attribute("transB", std::int64_t{0}) != 0;
  const std::int64_t outputs = transposed ? weights[0] : weights[1];
  const bool has_bias = view.has_input(2);
  if (has_bias) check_bias(view, 2, outputs);
  add_linear(importer, view, node, has_bias ? view.constant(2) : nullptr, transposed);
}

/// Where a sum with a bias alone reads it, its layer is made when the turn of that comes.
void map_matmul(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (view.weights(1, "second factors").shape.size() != 2) {
    throw CannotMap("its second factor is no matrix");
  }
  (void)view.activation(0);
  const Node* sum = importer.only_reader(node);
  const bool has_bias = sum != nullptr && sum->op == "Add" && is_sum_of_two(sum) &&
                        !importer.is_absorbed(*sum) && has_bias_for(importer, *sum);
  if (!has_bias) return add_linear(importer, view, node, nullptr, false);
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

/// A factor of each channel.
void map_product(Importer& importer, const Node& node) {
  if (joins_norm(importer, node)) return;
  throw CannotMap("it multiplies other than the channels of a normalisation with constants");
}

void map_sum(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (!is_sum_of_two(&node)) throw CannotMap("it adds up other than two inputs");
  if (const auto [product, bias] = product_of(importer, node); product != nullptr) {
    const NodeView factors(importer, *product);
    const Shape& weights = factors.weights(1, "second factors").shape;
    check_bias(view, bias, weights[1]);
    return add_linear(importer, factors, node, view.constant(bias), false);
  }
  if (joins_norm(importer, node)) return;
  if (map_positions(importer, node)) return;
  const int a = view.activation(0);
  const int b = view.activation(1);
  if (importer.shape_of(a) != importer.shape_of(b)) throw CannotMap("its inputs have other shapes");
  importer.add(node, Addition(), {a, b});
}

// --- shapes ---

/// Rows of all values of a sample. A mean over an image is a row already.
void add_rows(Importer& importer, const Node& node, int source) {
  if (importer.shape_of(source).size() == 1) return importer.alias(node, source);
  if (importer.shape_of(source).size() != 3) throw CannotMap("its input is no image");
  importer.add(node, Flatten(), {source});
}

void map_flatten(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (view.attribute("axis", std::int64_t{1}) != 1) throw CannotMap("its axis is not 1");
  add_rows(importer, node, view.activation(0));
}

/// The transposition between two reshapes that shuffle channels, which a reshape to groups of
/// channels begins; null where it does not.
const Node* shuffling(const Importer& importer, const Node& reshape, const Integers& shape) {
  constexpr std::size_t grouped_rank = 5;
  const Node* transpose = importer.only_reader(reshape);
  if (shape.size() != grouped_rank || transpose == nullptr || transpose->op != "Transpose") {
    return nullptr;
  }
  const Node* last = importer.only_reader(*transpose);
  if (last == nullptr || last->op != "Reshape") return nullptr;
  const NodeView view(importer, *transpose);
  return view.attribute("perm", Integers()) == Integers{0, 2, 1, 3, 4} ? transpose : nullptr;
}

/// Whether a shape is that of an image, or of its channels in groups, for the samples of the file.
bool is_image_of(const Importer& importer, Integers shape, const Shape& image, bool grouped) {
  if (shape.empty() || (shape[0] != 0 && shape[0] != -1 && shape[0] != importer.samples())) {
    return false;
  }
  if (grouped && (shape[1] < 1 || shape[2] < 1 || shape[1] > image[0] || shape[2] > image[0])) {
    return false;
  }
  if (grouped) shape = {shape[0], shape[1] * shape[2], shape[3], shape[4]};
  return shape == Integers{shape[0], image[0], image[1], image[2]};
}

/// The last of the nodes that shuffle channels makes the layer.
void add_shuffle(Importer& importer, const Node& node, const Node& transpose) {
  const Node& grouping = *importer.maker(transpose.inputs.at(0));
  const NodeView first(importer, grouping);
  const int source = first.activation(0);
  const Shape& image = importer.shape_of(source);
  if (!is_image_of(importer, NodeView(importer, node).integers("shape", 1), image, false)) {
    throw CannotMap("it does not make an image of shuffled channels again");
  }
  importer.add(node, ChannelShuffle(first.integers("shape", 1).at(1)), {source});
}

/// The shape of so many elements: 0 stands for the dimension that is there, −1 for what is left.
Shape reshaped(const Shape& from, Shape shape) {
  std::int64_t known = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && i < from.size()) shape[i] = from[i];
    if (shape[i] < -1 || shape[i] == 0 || shape[i] > element_count(from) / known) {
      throw CannotMap(fmt::format("its shape ({}) is not that of its {} values",
                                  fmt::join(shape, ", "), element_count(from)));
    }
    if (shape[i] > 0) known *= shape[i];
  }
  std::ranges::replace(shape, std::int64_t{-1}, element_count(from) / known);
  if (element_count(shape) == element_count(from)) return shape;
  throw CannotMap(fmt::format("its shape ({}) is not that of its {} values", fmt::join(shape, ", "),
                              element_count(from)));
}

/// To rows: {samples, values}, where files name the samples as 0, as −1 or by their own number.
void map_reshape(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (view.constant(0) != nullptr) {
    Constant constant = view.weights(0, "values");
    Shape shape = reshaped(constant.shape, view.integers("shape", 1));
    if (constant.transposed && shape != constant.shape)
      constant.source.clear();  // in no order of it
    constant.shape = std::move(shape);
    return importer.fold(node, std::move(constant));
  }
  const Node* from = importer.maker(view.input(0));
  if (from != nullptr && from->op == "Transpose" && importer.is_absorbed(*from)) {
    return add_shuffle(importer, node, *from);
  }
  const int source = view.activation(0);
  const Integers shape = view.integers("shape", 1);
  const Node* transpose = shuffling(importer, node, shape);
  if (transpose != nullptr && is_image_of(importer, shape, importer.shape_of(source), true)) {
    importer.absorb(node);
    return importer.absorb(*transpose);
  }
  const std::int64_t values = element_count(importer.shape_of(source));
  const bool keeps_samples =
      shape.size() == 2 && (shape[0] == 0 || shape[0] == -1 || shape[0] == importer.samples());
  if (!keeps_samples || (shape[1] != values && (shape[1] != -1 || shape[0] == -1))) {
    throw CannotMap(fmt::format("its shape ({}) is not that of samples of {} values",
                                fmt::join(shape, ", "), values));
  }
  add_rows(importer, node, source);
}

/// Behind a mean over an image, whose result has no height and width here.
void map_squeeze(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  if (importer.shape_of(source).size() != 1) throw CannotMap("its input is no mean over an image");
  importer.alias(node, source);
}

/// Of constants: their shape with dimensions of one more.
void map_unsqueeze(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  Constant constant = view.weights(0, "values");
  Integers axes = view.integers("axes", 1);
  const auto rank = static_cast<std::int64_t>(constant.shape.size() + axes.size());
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::ranges::sort(axes);
  for (const std::int64_t axis : axes) {
    if (axis < 0 || axis > std::ssize(constant.shape)) throw CannotMap("its axes do not fit");
    constant.shape.insert(constant.shape.begin() + axis, 1);
  }
  importer.fold(node, std::move(constant));
}

void map_identity(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (const Constant* constant = view.constant(0)) return importer.fold(node, *constant);
  importer.alias(node, view.activation(0));
}

/// As the network's end it is a part of the loss.
void map_softmax(Importer& importer, const Node& node) {
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

// --- constants ---

void map_constant(Importer& importer, const Node& node) {
  const auto found = node.attributes.find("value");
  if (found != node.attributes.end()) {
    if (const auto* constant = std::get_if<Constant>(&found->second)) {
      Constant made = *constant;
      made.source = node.outputs.at(0);
      return importer.fold(node, std::move(made));
    }
  }
  const NodeView view(importer, node);
  if (node.attributes.contains("value_ints")) {
    const Integers values = view.attribute("value_ints", Integers());
    return importer.fold(node, {{static_cast<std::int64_t>(values.size())}, values});
  }
  if (node.attributes.contains("value_int")) {
    return importer.fold(node, {{}, {view.attribute("value_int", std::int64_t{0})}});
  }
  if (!node.attributes.contains("value_float")) {
    throw CannotMap("its value is neither a tensor nor a number");
  }
  importer.fold(node, {.shape = {}, .scalar = view.attribute("value_float", 0.0)});
}

/// Weights of files that were made small count as parameters too.
void map_constant_of_shape(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant value = view.attribute("value", Constant{.shape = {}, .scalar = 0.0});
  importer.fold(node, {.shape = view.integers("", 0), .filled = value.scalar});
}

}  // namespace

const std::map<std::string_view, MapNode>& operators() {
  static const std::map<std::string_view, MapNode> all{
      {"Add", map_sum},
      {"AveragePool", map_average_pool},
      {"BatchNormalization", map_batch_norm},
      {"Clip", map_clip},
      {"Constant", map_constant},
      {"ConstantOfShape", map_constant_of_shape},
      {"Concat", map_concatenation},
      {"Conv", map_convolution},
      {"ConvTranspose", map_transposed_convolution},
      {"Dropout", map_dropout},
      {"Flatten", map_flatten},
      {"Gather", map_gather},
      {"Gelu", map_gelu},
      {"Gemm", map_gemm},
      {"GlobalAveragePool", map_global_average_pool},
      {"Identity", map_identity},
      {"LRN", map_response_norm},
      {"LayerNormalization", map_layer_norm},
      {"LogSoftmax", map_softmax},
      {"MatMul", map_matmul},
      {"MaxPool", map_max_pool},
      {"Mul", map_product},
      {"ReduceMean", map_mean},
      {"Relu", map_relu},
      {"Reshape", map_reshape},
      {"Sigmoid", map_activation<ActivationKind::sigmoid>},
      {"Softmax", map_softmax},
      {"Squeeze", map_squeeze},
      {"Sum", map_sum},
      {"Tanh", map_activation<ActivationKind::tanh>},
      {"Transpose", map_transpose},
      {"Unsqueeze", map_unsqueeze}};
  return all;
}

}  // namespace parbench::onnx_import
