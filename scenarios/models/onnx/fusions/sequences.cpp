// Normalisations of rows and attention between positions.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "scenarios/models/general/evaluate.h"
#include "scenarios/models/general/strides.h"
#include "scenarios/models/layers/attention.h"
#include "scenarios/models/layers/layer_norm.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/onnx/fusions/fusing.h"
#include "scenarios/models/onnx/general/indexing.h"

namespace parbench::onnx_import {
namespace {

using general::Extent;
using general::Extents;
using general::Operation;
using general::OpKind;

// --- layer normalisation ---

/// What one row becomes by elements and by reductions over its last dimension, below an operation.
class RowFunction {
 public:
  [[nodiscard]] static std::optional<RowFunction> below(const Fusing& fusing, int index) {
    RowFunction function;
    function.width_ = fusing.shape(index).back().size;
    static_cast<void>(function.graph_.input({{.size = function.width_}}));
    function.result_ = function.copied(fusing, index);
    if (function.result_ < 0 || function.argument_ < 0 || !function.is_reduced_) {
      return std::nullopt;
    }
    return function;
  }

  [[nodiscard]] int argument() const { return argument_; }
  /// Numbers of the formula that may be an epsilon.
  [[nodiscard]] const std::vector<double>& epsilons() const { return epsilons_; }
  [[nodiscard]] std::vector<double> at(const std::vector<double>& row) const {
    return general::evaluate(graph_, {result_}, {row}, {}, 1).front();
  }

 private:
  [[nodiscard]] Extents row_of(const Extents& shape) const {
    return {shape.back() == general::Extent{.size = width_} ? shape.back() : general::Extent()};
  }

  int copied(const Fusing& fusing, int index) {
    constexpr std::size_t max_operations = 40;
    if (const auto known = copies_.find(index); known != copies_.end()) return known->second;
    return copies_[index] = graph_.operations().size() > max_operations ? -1 : made(fusing, index);
  }

  int made(const Fusing& fusing, int index) {
    constexpr double largest_epsilon = 1;
    if (const auto number = fusing.number_of(index)) {
      if (*number > 0 && *number < largest_epsilon) epsilons_.push_back(*number);
      return graph_.number(static_cast<float>(*number), row_of(fusing.shape(index)));
    }
    const Operation& operation = fusing.at(fusing.unfused(index));
    const bool is_row = !operation.shape.empty() && !operation.shape.back().samples;
    const auto last = signed_size(operation.shape.size()) - 1;
    if (is_row && operation.kind == OpKind::reduction &&
        operation.axes == std::vector<std::int64_t>{last}) {
      const int x = copied(fusing, operation.inputs.front());
      is_reduced_ = true;
      return x < 0 ? -1 : graph_.reduce(operation.reduction, x, {0});
    }
    if (is_row && operation.kind == OpKind::expansion) {
      const int x = copied(fusing, operation.inputs.front());
      return x < 0 ? -1 : graph_.broadcast(x, row_of(operation.shape));
    }
    if (is_row && operation.kind == OpKind::element && !operation.inputs.empty()) {
      Operation same = operation;
      same.shape = row_of(operation.shape);
      for (int& input : same.inputs) {
        input = copied(fusing, input);
        if (input < 0) return -1;
      }
      return graph_.add(std::move(same));
    }
    if (argument_ >= 0 || !is_row || operation.shape.back().size != width_) return -1;
    argument_ = index;
    return 0;
  }

  std::int64_t width_ = 0;
  general::Graph graph_;
  std::map<int, int> copies_;
  std::vector<double> epsilons_;
  int argument_ = -1;
  int result_ = -1;
  bool is_reduced_ = false;
};

/// A row whose mean, deviation and extremes differ.
std::vector<double> trial_row(std::int64_t width, double size) {
  std::vector<double> row;
  for (std::int64_t i = 0; i < width; ++i) {
    row.push_back(size * (std::sin(static_cast<double>(3 * i + 1)) + (i % 5 == 0 ? 0.4 : -0.2)));
  }
  return row;
}

bool normalises(const RowFunction& function, double epsilon, const std::vector<double>& row) {
  constexpr double tolerance = 1e-5;
  const std::vector<double> found = function.at(row);
  const auto width = static_cast<double>(row.size());
  double mean = 0;
  for (const double x : row) mean += x / width;
  double variance = 0;
  for (const double x : row) variance += (x - mean) * (x - mean) / width;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double wanted = (row[i] - mean) / std::sqrt(variance + epsilon);
    if (!(std::abs(found.at(i) - wanted) <= tolerance * (1 + std::abs(wanted)))) return false;
  }
  return true;
}

/// The same for rows whose variance is small beside an epsilon, and large.
bool normalises(const RowFunction& function, double epsilon, std::int64_t width) {
  return std::ranges::all_of(std::array{0.01, 1.0, 30.0}, [&](double size) {
    return normalises(function, epsilon, trial_row(width, size));
  });
}

// --- attention ---

/// The operand of a product or quotient with a number, and the factor.
struct Scaled {
  int operand = 0;
  double factor = 1;
};

std::optional<Scaled> scaled(const Fusing& fusing, int index) {
  const Operation& operation = fusing.at(fusing.unfused(index));
  if (is_element(operation, ElementOp::product)) {
    for (std::size_t which = 0; which < 2; ++which) {
      const auto number = fusing.number_of(operation.inputs[which]);
      if (number) return Scaled{operation.inputs[1 - which], *number};
    }
  }
  if (is_element(operation, ElementOp::quotient)) {
    if (const auto number = fusing.number_of(operation.inputs[1])) {
      return Scaled{operation.inputs[0], 1 / *number};
    }
  }
  return std::nullopt;
}

/// Queries, keys or values: heads side by side in the rows of a layer's output.
struct Heads {
  int layer = 0;
  std::int64_t offset = 0;
  std::int64_t heads = 1;
  std::int64_t positions = 0;
  std::int64_t size = 0;
  double factor = 1;
  bool is_read_once = true;  // the layer's output, and what is made of it on the way

  [[nodiscard]] std::int64_t width() const { return heads * size; }
};

/// Of {…, heads, positions, size}, or with `turned` {…, size, positions}, whose leading dimensions
/// may be joined.
std::optional<Heads> heads_of(const Fusing& fusing, int index, bool turned) {
  Heads found;
  std::vector<int> chain;
  int base = index;
  while (true) {
    found.is_read_once = found.is_read_once && fusing.has_one_reader(base);
    const OpKind kind = fusing.at(base).kind;
    if (general::is_movement(kind) && kind != OpKind::detached) {
      chain.push_back(base);
      base = fusing.at(base).inputs.front();
    } else if (const auto factor = scaled(fusing, base)) {
      found.factor *= factor->factor;
      base = factor->operand;
    } else {
      break;
    }
  }
  const Extents& rows = fusing.shape(base);
  if (!fusing.is_exchanged(base) || rows.size() != 3 || !starts_with_samples(rows)) {
    return std::nullopt;
  }
  const Shape whole = general::shape_at(rows, 1);
  general::StridedView view{
      .base = base, .shape = whole, .strides = general::canonical_strides(whole)};
  for (auto one = chain.rbegin(); one != chain.rend(); ++one) {
    const auto next = general::moved(fusing.at(*one), view, 1);
    if (!next) return std::nullopt;
    view = *next;
  }
  const std::size_t rank = view.shape.size();
  const Extents& shape = fusing.shape(index);
  if (rank < 3) return std::nullopt;
  const std::size_t position = turned ? rank - 1 : rank - 2;
  const std::size_t element = turned ? rank - 2 : rank - 1;
  found.layer = base;
  found.offset = view.offset;
  found.positions = view.shape[position];
  found.size = view.shape[element];
  bool is_first = true;  // the samples are outermost
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    if (shape[d].samples) is_first = is_first && shape[d].outer == 1 && found.heads == 1;
    found.heads *= view.shape[d];
    const bool is_head = view.shape[d] == 1 || view.strides[d] == found.size;
    is_first = is_first && is_head;
  }
  const auto lies = [&](std::size_t d, std::int64_t stride) {
    return view.shape[d] == 1 || view.strides[d] == stride;
  };
  const bool fits = is_first && lies(position, whole[2]) && lies(element, 1) &&
                    found.positions == whole[1] && !shape[position].samples &&
                    !shape[element].samples;
  return fits ? std::optional(found) : std::nullopt;
}

/// Whether the last two dimensions are those of scores: queries by keys, as many as `positions`.
bool ends_with_scores(const Extents& shape, std::int64_t positions) {
  const Extent wanted{.size = positions};
  return shape.size() >= 2 && shape.back() == wanted && shape.end()[-2] == wanted;
}

/// The values {positions, positions} of a constant that is repeated for samples and heads; null for
/// others.
const std::vector<double>* values_for_all(const Fusing& fusing, int index) {
  const std::int64_t positions = fusing.shape(index).back().size;
  while (ends_with_scores(fusing.shape(index), positions)) {
    const Operation& operation = fusing.at(index);
    if (operation.kind == OpKind::constant) {
      const std::vector<double>& values = operation.values->values();
      return signed_size(values.size()) == positions * positions ? &values : nullptr;
    }
    if (operation.kind != OpKind::expansion && operation.kind != OpKind::reshape) break;
    index = operation.inputs.front();
  }
  return nullptr;
}

/// Whether a condition holds for the later positions of {positions, positions} and the other one
/// for the others.
template <class Later, class Earlier>
bool divides_positions(const std::vector<double>& values, Later later, Earlier earlier) {
  const auto positions = static_cast<std::size_t>(std::lround(std::sqrt(values.size())));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_later = i % positions > i / positions;
    if (!(is_later ? later(values[i]) : earlier(values[i]))) return false;
  }
  return true;
}

enum class Mask { none, causal, other };

/// Adding less than this hides a position.
constexpr double hidden_below = -1e4;

/// What a tensor hides that is added to scores.
Mask mask_of(const Fusing& fusing, int index) {
  if (fusing.number_of(index) == 0) return Mask::none;
  const std::vector<double>* values = values_for_all(fusing, index);
  if (values == nullptr) return Mask::other;
  const auto is_zero = [](double value) { return value == 0; };
  if (std::ranges::all_of(*values, is_zero)) return Mask::none;
  const auto hides = [](double value) { return value <= hidden_below; };
  return divides_positions(*values, hides, is_zero) ? Mask::causal : Mask::other;
}

/// Whether a choice between scores and a number that hides them, where the condition has the value
/// `hides`, hides the later positions alone.
bool is_causal_choice(const Fusing& fusing, int condition, bool hides) {
  const std::vector<double>* values = values_for_all(fusing, condition);
  const auto is_hidden = [&](double value) { return (value != 0) == hides; };
  const auto is_seen = [&](double value) { return (value != 0) != hides; };
  return values != nullptr && divides_positions(*values, is_hidden, is_seen);
}

/// Scores, and what they go through ahead of the softmax.
struct Scores {
  int product = 0;
  double factor = 1;
  bool causal = false;
};

std::optional<Scores> scores_below(const Fusing& fusing, int index) {
  const std::int64_t positions = fusing.shape(index).back().size;
  Scores scores{.product = index};
  while (true) {
    const int below = fusing.unfused(scores.product);
    const Operation& operation = fusing.at(below);
    if (!ends_with_scores(operation.shape, positions)) return std::nullopt;
    if (operation.kind == OpKind::product) return scores;
    if (operation.kind == OpKind::reshape) {
      scores.product = operation.inputs.front();
    } else if (const auto factor = scaled(fusing, below)) {
      scores.factor *= factor->factor;
      scores.product = factor->operand;
    } else if (is_element(operation, ElementOp::addition)) {
      Mask mask = mask_of(fusing, operation.inputs[1]);
      const bool is_second = mask != Mask::other;
      if (!is_second) mask = mask_of(fusing, operation.inputs[0]);
      if (mask == Mask::other) return std::nullopt;
      scores.causal = scores.causal || mask == Mask::causal;
      scores.product = operation.inputs[is_second ? 0 : 1];
    } else if (is_element(operation, ElementOp::selection)) {
      const auto number = fusing.number_of(operation.inputs[1]);
      const bool hides = number.has_value();
      const auto hidden = hides ? number : fusing.number_of(operation.inputs[2]);
      if (!hidden || *hidden > hidden_below) return std::nullopt;
      if (!is_causal_choice(fusing, operation.inputs[0], hides)) return std::nullopt;
      scores.causal = true;
      scores.product = operation.inputs[hides ? 2 : 1];
    } else {
      return std::nullopt;
    }
  }
}

/// x of exp(x − c)/Σ exp(x − c) over the last dimension, in which c is constant, as the table
/// writes a softmax.
std::optional<int> inside_of_softmax(const Fusing& fusing, int index) {
  const Operation& quotient = fusing.at(index);
  if (!is_element(quotient, ElementOp::quotient)) return std::nullopt;
  const int powers = quotient.inputs[0];
  int sum = quotient.inputs[1];
  if (fusing.at(sum).kind == OpKind::expansion) sum = fusing.at(sum).inputs.front();
  const Operation& reduction = fusing.at(sum);
  const auto last = signed_size(quotient.shape.size()) - 1;
  if (reduction.kind != OpKind::reduction || reduction.reduction != Reduction::sum ||
      reduction.inputs.front() != powers || reduction.axes != std::vector<std::int64_t>{last} ||
      !is_element(fusing.at(powers), ElementOp::exponential)) {
    return std::nullopt;
  }
  const Operation& shifted = fusing.at(fusing.at(powers).inputs.front());
  if (!is_element(shifted, ElementOp::difference)) return std::nullopt;
  const Operation& shift = fusing.at(shifted.inputs[1]);
  const bool is_alike =
      shift.kind == OpKind::expansion && fusing.shape(shift.inputs.front()).back().is_one();
  return is_alike ? std::optional(shifted.inputs[0]) : std::nullopt;
}

/// The layer that has queries, keys and values one after the other; made of three linear layers
/// where it must be.
std::optional<int> projections_of(Fusing& fusing, const std::array<Heads, 3>& parts) {
  const std::int64_t width = parts[0].width();
  const auto row = [&](const Heads& part) { return fusing.shape(part.layer).back().size; };
  bool is_one = row(parts[0]) == 3 * width;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    is_one = is_one && parts.at(i).layer == parts[0].layer &&
             parts.at(i).offset == signed_size(i) * width;
  }
  if (is_one) return parts[0].layer;
  std::array<const TranslatedLayer*, 3> layers{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto* linear = fusing.kind_of<Linear>(parts.at(i).layer);
    const auto* first = fusing.kind_of<Linear>(parts[0].layer);
    if (linear == nullptr || !parts.at(i).is_read_once || row(parts.at(i)) != width ||
        parts.at(i).offset != 0 || linear->has_bias() != first->has_bias() ||
        fusing.at(parts.at(i).layer).inputs != fusing.at(parts[0].layer).inputs) {
      return std::nullopt;
    }
    layers.at(i) = fusing.layer_of(parts.at(i).layer);
  }
  TranslatedLayer like = *layers[0];
  like.name += ".qkv";
  std::vector<std::pair<std::string, int>> parameters;
  for (std::size_t i = 0; i < like.parameters.size(); ++i) {
    parameters.emplace_back(like.parameters[i].first,
                            fusing.constants().concatenate({layers[0]->parameters.at(i).second,
                                                            layers[1]->parameters.at(i).second,
                                                            layers[2]->parameters.at(i).second},
                                                           0));
  }
  const bool has_bias = fusing.kind_of<Linear>(parts[0].layer)->has_bias();
  return fusing.add_layer(std::make_shared<const Linear>(3 * width, has_bias),
                          fusing.at(parts[0].layer).inputs, std::move(parameters), &like);
}

}  // namespace

/// (x − mean)/sqrt(variance + epsilon)·scale + shift, over the last dimension.
std::optional<int> fused_layer_norm(Fusing& fusing, int index) {
  const Operation& sum = fusing.at(index);
  if (!is_element(sum, ElementOp::addition)) return std::nullopt;
  const std::size_t rank = sum.shape.size();
  if (rank < 2 || rank > 3 || !starts_with_samples(sum.shape)) return std::nullopt;
  const std::int64_t width = sum.shape.back().size;
  const auto beside = [&](const Operation& operation) -> std::optional<std::pair<int, int>> {
    for (std::size_t which = 0; which < 2; ++which) {
      const auto constant = fusing.parameter_along(operation.inputs[which], rank - 1);
      if (constant) return std::pair(*constant, operation.inputs[1 - which]);
    }
    return std::nullopt;
  };
  const auto shift = beside(sum);
  if (!shift || !is_element(fusing.at(shift->second), ElementOp::product)) return std::nullopt;
  const auto scale = beside(fusing.at(shift->second));
  if (!scale) return std::nullopt;
  const auto function = RowFunction::below(fusing, scale->second);
  if (!function || !fusing.is_exchanged(function->argument())) return std::nullopt;
  for (const double epsilon : function->epsilons()) {
    if (!normalises(*function, epsilon, width)) continue;
    return fusing.add_layer(std::make_shared<const LayerNorm>(static_cast<float>(epsilon)),
                            {function->argument()},
                            {{"scale", scale->first}, {"shift", shift->first}});
  }
  return std::nullopt;
}

/// softmax(Q·Kᵀ/√size [+ mask])·V of heads that lie side by side.
std::optional<int> fused_attention(Fusing& fusing, int index) {
  const Operation last = fusing.at(index);
  if (last.kind != OpKind::product) return std::nullopt;
  int shares = last.inputs[0];
  const std::int64_t positions = fusing.shape(shares).back().size;
  if (fusing.at(shares).kind == OpKind::reshape) shares = fusing.at(shares).inputs.front();
  if (!ends_with_scores(fusing.shape(shares), positions)) return std::nullopt;
  const auto inside = inside_of_softmax(fusing, shares);
  const auto scores = inside ? scores_below(fusing, *inside) : std::nullopt;
  if (!scores) return std::nullopt;
  const Operation& product = fusing.at(fusing.unfused(scores->product));
  const auto queries = heads_of(fusing, product.inputs[0], false);
  const auto keys = heads_of(fusing, product.inputs[1], true);
  const auto values = heads_of(fusing, last.inputs[1], false);
  if (!queries || !keys || !values || values->factor != 1) return std::nullopt;
  const double wanted = 1 / std::sqrt(static_cast<double>(queries->size));
  constexpr double tolerance = 1e-3;
  const double factor = scores->factor * queries->factor * keys->factor;
  const auto is_alike = [&](const Heads& one) {
    return one.heads == queries->heads && one.size == queries->size &&
           one.positions == queries->positions;
  };
  if (!(std::abs(factor - wanted) <= tolerance * wanted) || !is_alike(*keys) ||
      !is_alike(*values)) {
    return std::nullopt;
  }
  const auto source = projections_of(fusing, {*queries, *keys, *values});
  if (!source) return std::nullopt;
  const Heads heads = *queries;
  const int made = fusing.add_layer(
      std::make_shared<const SelfAttention>(heads.heads, scores->causal), {*source});
  general::Graph& graph = fusing.graph();
  const int divided = graph.reshape(
      made, {{1, true}, {.size = heads.positions}, {.size = heads.heads}, {.size = heads.size}});
  return graph.reshape(graph.permute(divided, {0, 2, 1, 3}), last.shape);
}

}  // namespace parbench::onnx_import
