// Fuses attention between the positions of a sequence.
#include <algorithm>
#include <array>
#include <cmath>

#include "scenarios/models/general/strides.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/onnx/fusions/fusing.h"
#include "scenarios/models/onnx/general/indexing.h"

namespace parbench::onnx_import {
namespace {

using general::Extent;
using general::Extents;
using general::Operation;
using general::OpKind;

/// Returns whether numbers are equal up to rounding: in files they are f32, or have few digits.
bool is_nearly(double value, double wanted) {
  constexpr double tolerance = 1e-5;
  return std::abs(value - wanted) <= tolerance * std::abs(wanted);
}

/// A product with a number, or a quotient by a number: the other operand, and the factor.
struct Scaled {
  int operand = 0;
  double factor = 1;
};

std::optional<Scaled> scaled(const Fusing& fusing, int index) {
  const Operation& operation = fusing.at(fusing.unfused(index));
  if (is_element(operation, ElementOp::product)) {
    const auto found = find_input(operation, [&](int input) { return fusing.number_of(input); });
    if (found) return Scaled{found->second, found->first};
  }
  if (is_element(operation, ElementOp::quotient)) {
    if (const auto number = fusing.number_of(operation.inputs[1])) {
      return Scaled{operation.inputs[0], 1 / *number};
    }
  }
  return std::nullopt;
}

/// Queries, keys or values that are heads in adjacent columns of a layer's output.
struct Heads {
  int layer = 0;
  std::int64_t offset = 0;
  std::int64_t heads = 1;
  std::int64_t positions = 0;
  std::int64_t size = 0;
  double factor = 1;
  // whether the layer's output and all tensors up to the heads have one reader each
  bool is_read_once = true;

  [[nodiscard]] std::int64_t width() const { return heads * size; }
};

/// Returns the heads in a tensor {…, heads, positions, size} that movements and scalings make of a
/// layer's output or of the network's input; nothing for other tensors. Leading dimensions may be
/// joined.
std::optional<Heads> heads_of(const Fusing& fusing, int index) {
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
  const Extents& shape = fusing.shape(index);
  const std::size_t rank = shape.size();
  const auto moved = general::moved(fusing.graph(), base, chain);
  if (!moved || rank < 3) return std::nullopt;
  const general::StridedView& view = *moved;
  const std::size_t position = rank - 2;
  const std::size_t element = rank - 1;
  found.layer = base;
  found.offset = view.offset;
  found.positions = view.shape[position];
  found.size = view.shape[element];
  bool is_first = true;  // whether the samples are outermost
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    if (shape[d].samples) is_first = is_first && shape[d].outer == 1 && found.heads == 1;
    found.heads *= view.shape[d];
    const bool is_head = view.shape[d] == 1 || view.strides[d] == found.size;
    is_first = is_first && is_head;
  }
  const auto lies = [&](std::size_t d, std::int64_t stride) {
    return view.shape[d] == 1 || view.strides[d] == stride;
  };
  const bool fits = is_first && lies(position, rows[2].size) && lies(element, 1) &&
                    found.positions == rows[1].size && !shape[position].samples &&
                    !shape[element].samples;
  return fits ? std::optional(found) : std::nullopt;
}

/// Returns whether the last two dimensions are those of scores: queries and keys, `positions` each.
bool ends_with_scores(const Extents& shape, std::int64_t positions) {
  const Extent wanted{.size = positions};
  return shape.size() >= 2 && shape.back() == wanted && shape.end()[-2] == wanted;
}

/// Skips expansions and reshapes of tensors that end with scores (ends_with_scores), and returns
/// the first other operation.
int unrepeated(const Fusing& fusing, int index) {
  const std::int64_t positions = fusing.shape(index).back().size;
  while (true) {
    const Operation& operation = fusing.at(index);
    if (operation.kind != OpKind::expansion && operation.kind != OpKind::reshape) return index;
    if (!ends_with_scores(fusing.shape(operation.inputs.front()), positions)) return index;
    index = operation.inputs.front();
  }
}

/// Returns the values {positions, positions} of a constant that is repeated for samples and heads;
/// null for other tensors.
const std::vector<double>* values_for_all(const Fusing& fusing, int index) {
  const std::int64_t positions = fusing.shape(index).back().size;
  const Operation& operation = fusing.at(unrepeated(fusing, index));
  if (operation.kind != OpKind::constant || !ends_with_scores(operation.shape, positions)) {
    return nullptr;
  }
  const std::vector<double>& values = operation.values->values();
  return signed_size(values.size()) == positions * positions ? &values : nullptr;
}

/// Returns whether `later` is true for all values above the diagonal of a matrix {positions,
/// positions}, and `earlier` for the others.
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

/// A number up to this one hides a position if it is added to the score, or replaces it.
constexpr double hidden_below = -1e4;

/// Returns the kind of mask that hides the positions at which a condition equals `hides`.
Mask mask_by(const Fusing& fusing, int condition, bool hides) {
  const auto is_hidden = [&](double value) { return (value != 0) == hides; };
  const auto is_seen = [&](double value) { return !is_hidden(value); };
  if (const auto number = fusing.number_of(condition)) {
    return is_seen(*number) ? Mask::none : Mask::other;
  }
  const std::vector<double>* values = values_for_all(fusing, condition);
  if (values == nullptr) return Mask::other;
  if (std::ranges::all_of(*values, is_seen)) return Mask::none;
  return divides_positions(*values, is_hidden, is_seen) ? Mask::causal : Mask::other;
}

/// A selection between a number that hides positions and another operand.
struct Hiding {
  Mask mask;
  int other;
};

std::optional<Hiding> hiding(const Fusing& fusing, const Operation& operation) {
  if (!is_element(operation, ElementOp::selection)) return std::nullopt;
  for (const std::size_t which : {1, 2}) {
    const auto number = fusing.number_of(operation.inputs[which]);
    if (!number || *number > hidden_below) continue;
    return Hiding{mask_by(fusing, operation.inputs[0], which == 1), operation.inputs[3 - which]};
  }
  return std::nullopt;
}

/// Returns which kind of mask a tensor is if it is added to scores.
Mask mask_of(const Fusing& fusing, int index) {
  const auto is_zero = [](double value) { return value == 0; };
  const auto hides = [](double value) { return value <= hidden_below; };
  if (fusing.number_of(index) == 0) return Mask::none;
  const int below = unrepeated(fusing, index);
  const Operation& operation = fusing.at(below);
  if (is_element(operation, ElementOp::selection)) {
    const auto found = hiding(fusing, operation);
    return found && fusing.number_of(found->other) == 0 ? found->mask : Mask::other;
  }
  const std::vector<double>* values = values_for_all(fusing, below);
  if (values == nullptr) return Mask::other;
  if (std::ranges::all_of(*values, is_zero)) return Mask::none;
  return divides_positions(*values, hides, is_zero) ? Mask::causal : Mask::other;
}

/// The product of queries and keys, and the factor and mask that are applied before the softmax.
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
    } else if (const auto found = hiding(fusing, operation); found && found->mask != Mask::other) {
      scores.causal = scores.causal || found->mask == Mask::causal;
      scores.product = found->other;
    } else {
      return std::nullopt;
    }
  }
}

/// Returns x if an operation is a softmax as `softmax_over` writes it: exp(x − c)/Σ exp(x − c),
/// with c constant in the last dimension.
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

/// Returns a layer whose output contains queries, keys and values one after the other; combines
/// three linear layers if necessary. Nothing if no layer can have this output.
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
  for (std::size_t i = 0; i < like.parameters.size(); ++i) {
    const auto own = [&](std::size_t layer) { return layers.at(layer)->parameters.at(i).second; };
    like.parameters[i].second = fusing.constants().concatenate({own(0), own(1), own(2)}, 0);
  }
  const bool has_bias = fusing.kind_of<Linear>(parts[0].layer)->has_bias();
  return fusing.add_layer(std::make_shared<const Linear>(3 * width, has_bias),
                          fusing.at(parts[0].layer).inputs, std::move(like));
}

/// Skips reshapes, and selections that return probabilities unchanged (exporters use them to
/// replace NaN); returns the first other operation.
int probabilities_below(const Fusing& fusing, int index) {
  const std::vector<double> trial{0, 1e-30, 0.25, 1};
  while (true) {
    const Operation& operation = fusing.at(index);
    int below = index;
    if (operation.kind == OpKind::reshape) below = operation.inputs.front();
    if (is_element(operation, ElementOp::selection)) {
      for (const int branch : {operation.inputs[1], operation.inputs[2]}) {
        const auto function = Function::of_elements(fusing, index, branch);
        if (function && function->at(trial) == trial) below = branch;
      }
    }
    if (below == index) return index;
    index = below;
  }
}

/// Returns {N, positions, heads·size} for {…, positions, size}; nothing unless the samples are
/// outermost.
std::optional<int> side_by_side(general::Graph& graph, int index) {
  const Extents from = graph.shape(index);
  const Extent all = general::count_of({from.begin(), from.end() - 2});
  const Extent positions = from.end()[-2];
  const Extent size = from.back();
  if (!all.samples || all.outer != 1 || positions.samples || size.samples) return std::nullopt;
  const int heads = graph.reshape(index, {{1, true}, {.size = all.size}, positions, size});
  return graph.reshape(graph.permute(heads, {0, 2, 1, 3}),
                       {{1, true}, positions, {.size = all.size * size.size}});
}

/// Queries, keys and values: {…, positions, size} each.
using Operands = std::array<int, 3>;

/// Concatenates the queries (times `factor`), keys and values to the input of SelfAttention;
/// nothing if their shapes do not fit together.
std::optional<int> packed(Fusing& fusing, Operands operands, double factor) {
  general::Graph& graph = fusing.graph();
  if (!is_nearly(factor, 1)) {
    operands[0] = graph.apply(ElementOp::product, operands[0], static_cast<float>(factor));
  }
  std::vector<int> parts;
  for (const int one : operands) {
    const auto part = side_by_side(graph, one);
    if (!part || graph.shape(one).back() != graph.shape(operands[0]).back()) return std::nullopt;
    parts.push_back(*part);
    if (graph.shape(*part) != graph.shape(parts[0])) return std::nullopt;
  }
  const int made = graph.concatenate(std::move(parts), 2);
  fusing.set_maker(made, "Concat", ".qkv");
  return made;
}

/// Like `packed`, without a copy: for operands in the rows of one layer, one after the other, or of
/// three linear layers, which are combined. Nothing for other operands, or if the product of all
/// factors is not 1.
std::optional<int> projected(Fusing& fusing, const Operands& operands, double factor) {
  const auto queries = heads_of(fusing, operands[0]);
  const auto keys = heads_of(fusing, operands[1]);
  const auto values = heads_of(fusing, operands[2]);
  if (!queries || !keys || !values || values->factor != 1 ||
      !is_nearly(factor * queries->factor * keys->factor, 1)) {
    return std::nullopt;
  }
  const auto is_alike = [&](const Heads& one) {
    return one.heads == queries->heads && one.size == queries->size &&
           one.positions == queries->positions;
  };
  if (!is_alike(*keys) || !is_alike(*values)) return std::nullopt;
  return projections_of(fusing, {*queries, *keys, *values});
}

}  // namespace

/// Fuses softmax(factor·Q·Kᵀ)·V, without a mask or with a causal one, for any factor.
std::optional<int> fused_attention(Fusing& fusing, int index) {
  const Operation last = fusing.at(index);
  if (last.kind != OpKind::product || !fusing.has_one_reader(last.inputs[0])) return std::nullopt;
  const int shares = probabilities_below(fusing, last.inputs[0]);
  const std::int64_t positions = fusing.shape(shares).back().size;
  if (!ends_with_scores(fusing.shape(shares), positions)) return std::nullopt;
  const auto inside = inside_of_softmax(fusing, shares);
  const auto scores = inside ? scores_below(fusing, *inside) : std::nullopt;
  if (!scores) return std::nullopt;
  const Operation product = fusing.at(fusing.unfused(scores->product));
  const Operands operands{product.inputs[0], fusing.graph().transpose(product.inputs[1]),
                          last.inputs[1]};
  const Extent size = last.shape.back();
  const double factor = scores->factor * std::sqrt(static_cast<double>(size.size));
  auto source = projected(fusing, operands, factor);
  if (!source) source = packed(fusing, operands, factor);
  if (!source) return std::nullopt;
  general::Graph& graph = fusing.graph();
  const std::int64_t heads = fusing.shape(*source).back().size / (3 * size.size);
  const int made =
      fusing.add_layer(std::make_shared<const SelfAttention>(heads, scores->causal), {*source});
  const int divided = graph.reshape(made, {{1, true}, {.size = positions}, {.size = heads}, size});
  return graph.reshape(graph.permute(divided, {0, 2, 1, 3}), last.shape);
}

}  // namespace parbench::onnx_import
