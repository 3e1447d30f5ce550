// Functions of single elements are recognised by their values, independent of their operators.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "scenarios/models/general/evaluate.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/onnx/fusions/fusing.h"
#include "scenarios/models/onnx/general/indexing.h"

namespace parbench::onnx_import {
namespace {

using general::Extents;
using general::Operation;
using general::OpKind;

// --- activations ---

double reference(ActivationKind kind, double x) {
  switch (kind) {
    case ActivationKind::relu:
      return std::max(x, 0.0);
    case ActivationKind::gelu:
      return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
    case ActivationKind::gelu_tanh:
      return x / 2 *
             (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x)));
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-x));
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::clip:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Points that distinguish similar functions: densely around 0, and far away.
const std::vector<double>& points() {
  static const std::vector<double> all = [] {
    std::vector<double> made{0};
    constexpr int count = 71;  // up to about 1e5
    double x = 1e-3;
    for (int i = 0; i < count; ++i, x *= 1.3) {
      made.push_back(x);
      made.push_back(-x);
    }
    return made;
  }();
  return all;
}

/// Compares with tolerance: constants in files are rounded to f32, or written with few digits.
bool is_about(double value, double wanted) {
  constexpr double tolerance = 2e-5;
  return std::abs(value - wanted) <= tolerance * (1 + std::abs(wanted)) || value == wanted;
}

std::optional<ActivationKind> kind_with(const std::vector<double>& values) {
  using enum ActivationKind;
  for (const ActivationKind kind : {relu, gelu, gelu_tanh, sigmoid, tanh}) {
    bool is_same = true;
    for (std::size_t i = 0; i < values.size() && is_same; ++i) {
      is_same = is_about(values[i], reference(kind, points()[i]));
    }
    if (is_same) return kind;
  }
  return std::nullopt;
}

/// Returns the limits of a clip, minimum(maximum(x, low), high) in any order.
std::optional<std::pair<float, float>> limits_of(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  const double furthest = std::ranges::max(points());
  if (!(low > -furthest / 2) || !(high < furthest / 2) || !(low < high)) return std::nullopt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_about(values[i], std::clamp(points()[i], low, high))) return std::nullopt;
  }
  return std::pair(static_cast<float>(low), static_cast<float>(high));
}

// --- biases ---

/// Returns the layer below reshapes that have no other reader.
int below_reshape(const Fusing& fusing, int index) {
  const bool is_reshape = fusing.at(index).kind == OpKind::reshape && fusing.has_one_reader(index);
  return is_reshape ? fusing.at(index).inputs.front() : index;
}

/// Replaces a layer without bias by one with a bias, a number for each of its channels or columns.
std::optional<int> with_bias(Fusing& fusing, int layer, int bias) {
  std::shared_ptr<const LayerKind> kind;
  if (const auto* linear = fusing.kind_of<Linear>(layer);
      linear != nullptr && !linear->has_bias()) {
    kind = std::make_shared<const Linear>(fusing.shape(layer).back().size, true);
  } else if (const auto* convolution = fusing.kind_of<Convolution>(layer);
             convolution != nullptr && !convolution->options().bias) {
    Convolution::Options options = convolution->options();
    options.bias = true;
    kind = std::make_shared<const Convolution>(options);
  } else if (const auto* transposed = fusing.kind_of<TransposedConvolution>(layer);
             transposed != nullptr && !transposed->options().bias) {
    TransposedConvolution::Options options = transposed->options();
    options.bias = true;
    kind = std::make_shared<const TransposedConvolution>(options);
  }
  if (kind == nullptr) return std::nullopt;
  const TranslatedLayer like = *fusing.layer_of(layer);
  auto parameters = like.parameters;
  parameters.emplace_back("bias", bias);
  return fusing.add_layer(kind, fusing.at(layer).inputs, std::move(parameters), &like);
}

/// Merges a batch normalisation with constants per channel by which its results are multiplied, or
/// which are added to them.
std::optional<int> with_constants(Fusing& fusing, int norm, ElementOp op, int constant) {
  const auto* kind = fusing.kind_of<BatchNorm>(norm);
  if (kind == nullptr || kind->relu() || !fusing.has_one_reader(norm)) return std::nullopt;
  TranslatedLayer changed = *fusing.layer_of(norm);
  for (auto& [role, own] : changed.parameters) {
    if (role == "shift" || op == ElementOp::product) {
      own = fusing.constants().apply(op, own, constant);
    }
  }
  return fusing.add_layer(changed.kind, fusing.at(norm).inputs, changed.parameters, &changed);
}

/// An image or rows, and a parameter with a number for each channel or column; in either order.
struct WithParameter {
  int operand = 0;
  int constant = 0;
};

std::optional<WithParameter> with_channel_parameter(const Fusing& fusing, int index, ElementOp op) {
  const Operation& operation = fusing.at(index);
  if (!is_element(operation, op)) return std::nullopt;
  const std::size_t rank = operation.shape.size();
  if (rank < 2 || rank > 4) return std::nullopt;
  for (std::size_t which = 0; which < 2; ++which) {
    const auto constant = fusing.parameter_along(operation.inputs[which], rank == 4 ? 1 : rank - 1);
    if (constant) return WithParameter{operation.inputs[1 - which], *constant};
  }
  return std::nullopt;
}

}  // namespace

std::optional<ScalarFunction> ScalarFunction::below(const Fusing& fusing, int index) {
  return of(fusing, index, -1);
}

std::optional<ScalarFunction> ScalarFunction::of(const Fusing& fusing, int index, int argument) {
  ScalarFunction function;
  function.argument_ = argument;
  static_cast<void>(function.graph_.input({{1, true}}));  // any number of points
  function.result_ = function.copied(fusing, fusing.unfused(index));
  if (function.result_ < 0 || function.argument_ < 0) return std::nullopt;
  return function;
}

/// Returns −1 for anything that is not a function of one tensor.
int ScalarFunction::copied(const Fusing& fusing, int index) {
  constexpr std::size_t max_operations = 64;
  if (index == argument_) return 0;
  if (const auto number = fusing.number_of(index)) {
    return graph_.number(static_cast<float>(*number), graph_.shape(0));
  }
  const int below = fusing.unfused(index);
  const Operation& operation = fusing.at(below);
  if (operation.kind != OpKind::element || operation.inputs.empty()) {
    if (argument_ < 0) argument_ = index;
    return argument_ == index ? 0 : -1;
  }
  if (graph_.operations().size() > max_operations) return -1;
  Operation same = operation;
  same.shape = graph_.shape(0);
  for (int& input : same.inputs) {
    input = copied(fusing, input);
    if (input < 0) return -1;
  }
  return graph_.add(std::move(same));
}

std::vector<double> ScalarFunction::at(const std::vector<double>& where) const {
  return general::evaluate(graph_, {result_}, {where}, {}, signed_size(where.size())).front();
}

std::optional<int> fused_activation(Fusing& fusing, int index) {
  const Operation& operation = fusing.at(index);
  if (operation.kind != OpKind::element || operation.inputs.empty()) return std::nullopt;
  const auto function = ScalarFunction::below(fusing, index);
  const int argument = function ? below_reshape(fusing, function->argument()) : -1;
  if (argument < 0 || !fusing.is_exchanged(argument)) return std::nullopt;
  const Extents& source = fusing.shape(argument);
  if (!starts_with_samples(source) || source.size() > 4) return std::nullopt;
  const std::vector<double> values = function->at(points());
  std::shared_ptr<const LayerKind> kind;
  if (const auto known = kind_with(values)) {
    kind = std::make_shared<const Activation>(*known);
  } else if (const auto limits = limits_of(values)) {
    kind = std::make_shared<const Activation>(ActivationKind::clip, limits->first, limits->second);
  }
  if (kind == nullptr) return std::nullopt;
  const Extents to = operation.shape;
  return fusing.graph().reshape(fusing.add_layer(std::move(kind), {argument}), to);
}

/// Merges a ReLU into the normalisation that it reads, also with a sum in between.
std::optional<int> fused_relu(Fusing& fusing, int index) {
  const auto* activation = fusing.kind_of<Activation>(index);
  if (activation == nullptr || activation->kind() != ActivationKind::relu) return std::nullopt;
  int norm = fusing.at(index).inputs.front();
  std::optional<int> shortcut;
  if (!fusing.has_one_reader(norm)) return std::nullopt;
  if (fusing.kind_of<Addition>(norm) != nullptr) {
    const std::vector<int> terms = fusing.at(norm).inputs;
    const auto found = std::ranges::find_if(terms, [&](int term) {
      const auto* of_term = fusing.kind_of<BatchNorm>(term);
      return of_term != nullptr && !of_term->relu() && fusing.has_one_reader(term);
    });
    if (found == terms.end()) return std::nullopt;
    norm = *found;
    shortcut = terms[found == terms.begin() ? 1 : 0];
  }
  const auto* kind = fusing.kind_of<BatchNorm>(norm);
  if (kind == nullptr || kind->relu()) return std::nullopt;
  std::vector<int> inputs = fusing.at(norm).inputs;
  if (shortcut) inputs.push_back(*shortcut);
  const TranslatedLayer like = *fusing.layer_of(norm);
  return fusing.add_layer(std::make_shared<const BatchNorm>(true, kind->epsilon()),
                          std::move(inputs), like.parameters, &like);
}

std::optional<int> fused_bias(Fusing& fusing, int index) {
  const auto found = with_channel_parameter(fusing, index, ElementOp::addition);
  if (!found) return std::nullopt;
  const Extents shape = fusing.shape(index);
  int layer = below_reshape(fusing, found->operand);
  const bool keeps_columns =
      fusing.kind_of<Linear>(layer) != nullptr && fusing.shape(layer).back() == shape.back();
  if (!keeps_columns) layer = found->operand;
  if (fusing.has_one_reader(layer)) {
    if (const auto made = with_bias(fusing, layer, found->constant)) {
      return fusing.graph().reshape(*made, shape);
    }
  }
  if (const auto made =
          with_constants(fusing, found->operand, ElementOp::addition, found->constant)) {
    return made;
  }
  if (!fusing.is_exchanged(found->operand) || !starts_with_samples(shape)) return std::nullopt;
  return fusing.add_layer(std::make_shared<const ChannelBias>(), {found->operand},
                          {{ChannelBias::role_for(shape.size() == 4), found->constant}});
}

std::optional<int> fused_channel_scale(Fusing& fusing, int index) {
  const auto found = with_channel_parameter(fusing, index, ElementOp::product);
  const Extents& shape = fusing.shape(index);
  if (!found || !fusing.is_exchanged(found->operand) || !starts_with_samples(shape)) {
    return std::nullopt;
  }
  if (const auto made =
          with_constants(fusing, found->operand, ElementOp::product, found->constant)) {
    return made;
  }
  return fusing.add_layer(std::make_shared<const ChannelScale>(), {found->operand},
                          {{"weights", found->constant}});
}

/// Fuses sums of two layers' outputs, and sums with a table of positions.
std::optional<int> fused_addition(Fusing& fusing, int index) {
  const Operation& operation = fusing.at(index);
  if (!is_element(operation, ElementOp::addition)) return std::nullopt;
  const Extents shape = operation.shape;
  if (!starts_with_samples(shape) || shape.size() > 4) return std::nullopt;
  const std::vector<int> terms = operation.inputs;
  if (fusing.is_exchanged(terms[0]) && fusing.is_exchanged(terms[1])) {
    return fusing.add_layer(std::make_shared<const Addition>(), terms);
  }
  for (std::size_t which = 0; which < 2; ++which) {
    if (!fusing.is_exchanged(terms[which]) || shape.size() != 3) continue;
    if (const auto table = fusing.parameter_along(terms[1 - which], 1, 2)) {
      return fusing.add_layer(std::make_shared<const LearnedPositions>(), {terms[which]},
                              {{"addend", *table}});
    }
  }
  return std::nullopt;
}

}  // namespace parbench::onnx_import
