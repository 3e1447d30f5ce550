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
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/dropout.h"
#include "scenarios/models/layers/flatten.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/pooling.h"

namespace parbench::onnx_import {
namespace {

using Integers = std::vector<std::int64_t>;

/// The value that all numbers of a list have; the fallback for an empty one.
std::int64_t same(const Integers& values, std::int64_t fallback, std::string_view what) {
  if (values.empty()) return fallback;
  if (std::ranges::adjacent_find(values, std::ranges::not_equal_to()) != values.end()) {
    throw CannotMap(fmt::format("its {} differ: {}", what, fmt::join(values, ", ")));
  }
  return values.front();
}

const Shape& image_shape(const Importer& importer, int activation) {
  const Shape& shape = importer.shape_of(activation);
  if (shape.size() != 3) throw CannotMap("its input is no image");
  return shape;
}

/// As many positions as the input has at stride 1, the larger part of the padding at one end.
std::int64_t same_padding(std::int64_t extent, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t positions = (extent + stride - 1) / stride;
  const std::int64_t padding =
      std::max<std::int64_t>(0, (positions - 1) * stride + kernel - extent);
  if (padding % 2 != 0) throw CannotMap("its automatic padding is not symmetric");
  return padding / 2;
}

/// Of kernels and strides, far above any image.
constexpr std::int64_t max_window = 1 << 20;

Window window_of(const NodeView& view, const Shape& image, std::int64_t kernel) {
  if (same(view.attribute("dilations", Integers()), 1, "dilations") != 1) {
    throw CannotMap("its window is dilated");
  }
  Window window{.kernel = kernel,
                .stride = same(view.attribute("strides", Integers()), 1, "strides")};
  if (window.kernel <= 0 || window.stride <= 0) throw CannotMap("its window is empty");
  if (window.kernel > max_window || window.stride > max_window) {
    throw CannotMap("its window is larger than any image");
  }
  const std::string automatic = view.attribute("auto_pad", std::string("NOTSET"));
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    window.padding = same({same_padding(image[1], window.kernel, window.stride),
                           same_padding(image[2], window.kernel, window.stride)},
                          0, "paddings");
  } else if (automatic == "NOTSET") {
    window.padding = same(view.attribute("pads", Integers()), 0, "paddings");
  }
  if (window.padding < 0 || window.padding >= window.kernel) {
    throw CannotMap(fmt::format("its padding {} does not fit its window", window.padding));
  }
  return window;
}

void check_bias(const NodeView& view, std::size_t which, std::int64_t outputs) {
  if (view.weights(which, "biases").shape != Shape{outputs}) {
    throw CannotMap("its biases are not one an output");
  }
}

void map_convolution(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const Shape& image = image_shape(importer, source);
  const Constant& weights = view.weights(1, "weights");
  if (weights.shape.size() != 4 || weights.shape[2] != weights.shape[3]) {
    throw CannotMap("its weights are not those of square windows");
  }
  const auto groups = view.attribute("group", std::int64_t{1});
  if (groups <= 0 || groups > weights.shape[0] || weights.shape[1] * groups != image[0] ||
      weights.shape[0] % groups != 0) {
    throw CannotMap(
        fmt::format("its weights are for {} channels in {} groups, and its input has {}",
                    weights.shape[1], groups, image[0]));
  }
  const bool has_bias = view.has_input(2);
  if (has_bias) check_bias(view, 2, weights.shape[0]);
  importer.add(node,
               Convolution({.out_channels = weights.shape[0],
                            .window = window_of(view, image, weights.shape[2]),
                            .groups = groups,
                            .bias = has_bias}),
               {source}, view.input(1));
}

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
  if (importer.shape_of(view.activation(0)).size() > 2) throw CannotMap("its input is an image");
  importer.add(node,
               RandomDropout(static_cast<float>(probability),
                             static_cast<std::uint64_t>(view.activation(0)) + 1),
               {view.activation(0)});
}

// --- products and sums ---

void add_linear(Importer& importer, const NodeView& view, const Node& last, std::int64_t inputs,
                std::int64_t outputs) {
  const int source = view.activation(0);
  const Shape& shape = importer.shape_of(source);
  if (shape.size() > 2) throw CannotMap("its input is an image, which nothing has flattened");
  if (shape.back() != inputs) {
    throw CannotMap(
        fmt::format("its weights take {} values, and its input has {}; another --image "
                    "gives another number",
                    inputs, shape.back()));
  }
  importer.add(last, Linear(outputs), {source}, view.input(1));
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
  if (!view.has_input(2)) throw CannotMap("it has no bias");
  check_bias(view, 2, outputs);
  add_linear(importer, view, node, transposed ? weights[1] : weights[0], outputs);
}

/// Its layer is made when the turn of the sum with its bias comes, which alone reads it.
void map_matmul(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (view.weights(1, "second factors").shape.size() != 2) {
    throw CannotMap("its second factor is no matrix");
  }
  (void)view.activation(0);
  const Node* sum = importer.only_reader(node);
  if (sum == nullptr || sum->op != "Add" || !is_sum_of_two(sum)) {
    throw CannotMap("no bias is added to it");
  }
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

void map_sum(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (!is_sum_of_two(&node)) throw CannotMap("it adds up other than two inputs");
  if (const auto [product, bias] = product_of(importer, node); product != nullptr) {
    const NodeView factors(importer, *product);
    const Shape& weights = factors.weights(1, "second factors").shape;
    check_bias(view, bias, weights[1]);
    return add_linear(importer, factors, node, weights[0], weights[1]);
  }
  const int a = view.activation(0);
  const int b = view.activation(1);
  if (importer.shape_of(a) != importer.shape_of(b)) throw CannotMap("its inputs have other shapes");
  importer.add(node, Addition(), {a, b});
}

// --- pooling ---

void map_max_pool(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const Shape& image = image_shape(importer, source);
  if (view.attribute("ceil_mode", std::int64_t{0}) != 0) {
    throw CannotMap("its last windows reach over the edge (ceil_mode)");
  }
  const std::int64_t kernel = same(view.attribute("kernel_shape", Integers()), 0, "window's sides");
  importer.add(node, MaxPool(window_of(view, image, kernel)), {source});
}

void map_global_average_pool(Importer& importer, const Node& node) {
  const int source = NodeView(importer, node).activation(0);
  (void)image_shape(importer, source);
  importer.add(node, GlobalAveragePool(), {source});
}

/// One that covers the image is a global one.
void map_average_pool(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const Shape& image = image_shape(importer, source);
  const bool is_padded = same(view.attribute("pads", Integers()), 0, "paddings") != 0;
  if (is_padded || view.attribute("kernel_shape", Integers()) != Integers{image[1], image[2]}) {
    throw CannotMap(
        fmt::format("its window does not cover the image of {}×{}", image[1], image[2]));
  }
  importer.add(node, GlobalAveragePool(), {source});
}

void map_mean(Importer& importer, const Node& node) {
  Integers axes = NodeView(importer, node).integers("axes", 1);
  for (std::int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::ranges::sort(axes);
  if (axes != Integers{2, 3}) throw CannotMap("it is no mean over height and width");
  map_global_average_pool(importer, node);
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

/// To rows: {samples, values}, where files name the samples as 0, as −1 or by their own number.
void map_reshape(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const Integers shape = view.integers("shape", 1);
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
      return importer.fold(node, *constant);
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
  importer.fold(node, {.shape = NodeView(importer, node).integers("", 0)});
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
      {"Conv", map_convolution},
      {"Dropout", map_dropout},
      {"Flatten", map_flatten},
      {"Gelu", map_gelu},
      {"Gemm", map_gemm},
      {"GlobalAveragePool", map_global_average_pool},
      {"Identity", map_identity},
      {"LogSoftmax", map_softmax},
      {"MatMul", map_matmul},
      {"MaxPool", map_max_pool},
      {"ReduceMean", map_mean},
      {"Relu", map_relu},
      {"Reshape", map_reshape},
      {"Sigmoid", map_activation<ActivationKind::sigmoid>},
      {"Softmax", map_softmax},
      {"Squeeze", map_squeeze},
      {"Sum", map_sum},
      {"Tanh", map_activation<ActivationKind::tanh>}};
  return all;
}

}  // namespace parbench::onnx_import
