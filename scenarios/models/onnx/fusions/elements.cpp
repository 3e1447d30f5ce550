// Fuses activations, biases, scales and sums. Functions of single elements are recognised by their
// values, independent of their operators.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

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

/// Returns points that distinguish similar activations: densely around 0, and far from it.
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

/// Returns whether numbers are equal up to rounding: constants in files are f32, or have few
/// digits.
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

/// Returns the limits of a clip, minimum(maximum(x, low), high) in any order, from the function's
/// values at `points`; nothing for other functions.
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

/// Returns the input of an operation that is a reshape with one reader, otherwise the operation.
int below_reshape(const Fusing& fusing, int index) {
  const bool is_reshape = fusing.at(index).kind == OpKind::reshape && fusing.has_one_reader(index);
  return is_reshape ? fusing.at(index).inputs.front() : index;
}

/// Returns the kind of a layer with a bias added; null if it has a bias already or is not a `Kind`.
template <class Kind>
std::shared_ptr<const LayerKind> convolution_with_bias(const Fusing& fusing, int layer) {
  const auto* kind = fusing.kind_of<Kind>(layer);
  if (kind == nullptr || kind->options().bias) return nullptr;
  auto options = kind->options();
  options.bias = true;
  return std::make_shared<const Kind>(options);
}

/// Replaces a linear layer or convolution without bias by one with `bias`, a number for each
/// channel or column of the layer; nothing for other layers.
std::optional<int> with_bias(Fusing& fusing, int layer, int bias) {
  std::shared_ptr<const LayerKind> kind;
  if (const auto* linear = fusing.kind_of<Linear>(layer);
      linear != nullptr && !linear->has_bias()) {
    kind = std::make_shared<const Linear>(fusing.shape(layer).back().size, true);
  }
  if (kind == nullptr) kind = convolution_with_bias<Convolution>(fusing, layer);
  if (kind == nullptr) kind = convolution_with_bias<TransposedConvolution>(fusing, layer);
  if (kind == nullptr) return std::nullopt;
  TranslatedLayer like = *fusing.layer_of(layer);
  like.parameters.emplace_back("bias", bias);
  return fusing.add_layer(kind, fusing.at(layer).inputs, std::move(like));
}

/// Merges `constant`, a factor or an addend per channel (`op`: product or addition), into the batch
/// normalisation `norm`; nothing if that is another layer, has a ReLU, or has several readers.
std::optional<int> with_constants(Fusing& fusing, int norm, ElementOp op, int constant) {
  const auto* kind = fusing.kind_of<BatchNorm>(norm);
  if (kind == nullptr || kind->relu() || !fusing.has_one_reader(norm)) return std::nullopt;
  TranslatedLayer changed = *fusing.layer_of(norm);
  for (auto& [role, own] : changed.parameters) {
    if (role == "shift" || op == ElementOp::product) {
      own = fusing.constants().apply(op, own, constant);
    }
  }
  return fusing.add_layer(changed.kind, fusing.at(norm).inputs, changed);
}

/// Returns the operands of an operation `op`: the constant of a parameter with a number for each
/// channel or column, and the other operand. Nothing for other operations.
std::optional<std::pair<int, int>> with_channel_parameter(const Fusing& fusing, int index,
                                                          ElementOp op) {
  const Operation& operation = fusing.at(index);
  if (!is_element(operation, op)) return std::nullopt;
  const std::size_t rank = operation.shape.size();
  if (rank < 2 || rank > 4) return std::nullopt;
  return find_input(operation, [&](int input) {
    return fusing.parameter_along(input, rank == 4 ? 1 : rank - 1);
  });
}

}  // namespace

std::optional<int> fused_activation(Fusing& fusing, int index) {
  const Operation& operation = fusing.at(index);
  if (operation.kind != OpKind::element || operation.inputs.empty()) return std::nullopt;
  const auto function = Function::of_elements(fusing, index);
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

/// Merges a ReLU into the batch normalisation that it reads, directly or through a sum with a
/// shortcut.
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
  return fusing.add_layer(std::make_shared<const BatchNorm>(true, kind->epsilon()),
                          std::move(inputs), *fusing.layer_of(norm));
}

std::optional<int> fused_bias(Fusing& fusing, int index) {
  const auto found = with_channel_parameter(fusing, index, ElementOp::addition);
  if (!found) return std::nullopt;
  const auto [constant, operand] = *found;
  const Extents shape = fusing.shape(index);
  int layer = below_reshape(fusing, operand);
  const bool keeps_columns =
      fusing.kind_of<Linear>(layer) != nullptr && fusing.shape(layer).back() == shape.back();
  if (!keeps_columns) layer = operand;
  if (fusing.has_one_reader(layer)) {
    if (const auto made = with_bias(fusing, layer, constant)) {
      return fusing.graph().reshape(*made, shape);
    }
  }
  if (const auto made = with_constants(fusing, operand, ElementOp::addition, constant)) return made;
  if (!fusing.is_exchanged(operand) || !starts_with_samples(shape)) return std::nullopt;
  return fusing.add_layer(std::make_shared<const ChannelBias>(), {operand},
                          {{ChannelBias::role_for(shape.size() == 4), constant}});
}

std::optional<int> fused_channel_scale(Fusing& fusing, int index) {
  const auto found = with_channel_parameter(fusing, index, ElementOp::product);
  if (!found || !starts_with_samples(fusing.shape(index))) return std::nullopt;
  const auto [constant, operand] = *found;
  if (!fusing.is_exchanged(operand)) return std::nullopt;
  if (const auto made = with_constants(fusing, operand, ElementOp::product, constant)) return made;
  return fusing.add_layer(std::make_shared<const ChannelScale>(), {operand},
                          {{"weights", constant}});
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
  if (shape.size() != 3) return std::nullopt;
  const auto table =
      find_input(operation, [&](int input) { return fusing.parameter_along(input, 1, 2); });
  if (!table || !fusing.is_exchanged(table->second)) return std::nullopt;
  return fusing.add_layer(std::make_shared<const LearnedPositions>(), {table->second},
                          {{"addend", table->first}});
}

}  // namespace parbench::onnx_import
