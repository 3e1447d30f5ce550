// Queries, keys and values are views; their strides say whether they are heads of one sequence.
#include "scenarios/models/onnx/operators/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/models/layers/attention.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/onnx/masks.h"

namespace parbench::onnx_import {
namespace {

/// Queries, keys or values: {samples, heads, positions, size} of an activation {positions, row}.
struct Heads {
  int activation = network_input;
  std::int64_t offset = 0;
  std::int64_t heads = 1;
  std::int64_t positions = 1;
  std::int64_t size = 1;

  [[nodiscard]] std::int64_t width() const { return heads * size; }
};

Dimension axis_of(std::int64_t extent, std::int64_t stride) {
  if (extent == 1) return {};
  return {{.extent = extent, .stride = stride}};
}

/// Samples and heads may be one dimension. Throws CannotMap for a view that is no heads.
Heads heads_of(const Importer& importer, const View& view, std::string_view what) {
  const auto refuse = [&] {
    throw CannotMap(
        fmt::format("its {} must be heads of a sequence, side by side in each row", what));
  };
  const Shape& sample = importer.shape_of(view.activation);
  const std::size_t rank = view.dimensions.size();
  if (sample.size() != 2 || rank < 3) refuse();
  Heads heads{.activation = view.activation,
              .offset = view.offset,
              .positions = extent_of(view.dimensions[rank - 2]),
              .size = extent_of(view.dimensions[rank - 1])};
  Dimension outer;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    outer.insert(outer.end(), view.dimensions[i].begin(), view.dimensions[i].end());
  }
  if (outer.empty() || !outer.front().samples || outer.size() > 2) refuse();
  if (outer.size() == 2) heads.heads = outer.back().extent;
  const bool fits = (outer.size() == 1 || outer.back().stride == heads.size) &&
                    heads.positions == sample[0] &&
                    view.dimensions[rank - 2] == axis_of(heads.positions, sample[1]) &&
                    view.dimensions[rank - 1] == axis_of(heads.size, 1);
  if (!fits) refuse();
  return heads;
}

View with_last_two_swapped(const View& view) {
  View swapped = view;
  if (swapped.dimensions.size() < 2) throw CannotMap("it multiplies rows with rows");
  std::swap(swapped.dimensions.back(), swapped.dimensions[swapped.dimensions.size() - 2]);
  return swapped;
}

/// The activation that has queries, keys and values one after the other.
int projections_of(Importer& importer, const Node& node, const std::array<Heads, 3>& parts) {
  const Heads& first = parts.front();
  const std::int64_t row = importer.shape_of(first.activation).back();
  bool is_one = row == 3 * first.width();
  bool are_three = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Heads& part = parts.at(i);
    if (part.heads != first.heads || part.size != first.size || part.positions != first.positions) {
      throw CannotMap("its queries, keys and values have other numbers of heads, or positions");
    }
    is_one = is_one && part.activation == first.activation &&
             part.offset == static_cast<std::int64_t>(i) * first.width();
    are_three =
        are_three && part.offset == 0 && importer.shape_of(part.activation).back() == first.width();
  }
  if (is_one) return first.activation;
  if (!are_three) {
    throw CannotMap("its queries, keys and values must be three equal parts of one layer's output");
  }
  for (const Heads& part : parts) {
    if (importer.kind_of<Linear>(part.activation) == nullptr) {
      throw CannotMap("its queries, keys and values must be linear layers of one input");
    }
  }
  return importer.merge_linear(node,
                               {parts[0].activation, parts[1].activation, parts[2].activation});
}

/// The dimensions of the queries, as those of the result, whose rows are shorter.
View view_of_result(const View& queries, const Heads& heads, int activation) {
  View view = queries;
  view.activation = activation;
  view.offset = 0;
  view.scale = 1;
  const std::size_t rank = view.dimensions.size();
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    for (Axis& axis : view.dimensions[i]) {
      axis.stride = axis.samples ? heads.positions * heads.width() : heads.size;
    }
  }
  view.dimensions[rank - 2] = axis_of(heads.positions, heads.width());
  view.dimensions[rank - 1] = axis_of(heads.size, 1);
  return view;
}

void add_attention(Importer& importer, const Node& node, const Scores& scores, const View& values) {
  const View keys = with_last_two_swapped(scores.keys);
  const std::array<Heads, 3> parts{heads_of(importer, scores.queries, "queries"),
                                   heads_of(importer, keys, "keys"),
                                   heads_of(importer, values, "values")};
  const Heads heads = parts.front();
  const double scale = scores.scale * scores.queries.scale * scores.keys.scale;
  const double wanted = 1 / std::sqrt(static_cast<double>(heads.size));
  constexpr double tolerance = 1e-3;
  if (!(std::abs(scale - wanted) <= tolerance * wanted)) {
    throw CannotMap(fmt::format("it scales by {:.4g}, not by 1/√size, {:.4g}", scale, wanted));
  }
  if (values.scale != 1) throw CannotMap("it scales its values");
  const int source = projections_of(importer, node, parts);
  const int layer = importer.add(node, SelfAttention(heads.heads, scores.causal), {source});
  importer.set_view(node.outputs.at(0), view_of_result(scores.queries, heads, layer));
}

/// The number that a node multiplies by, or divides; nothing where it has none.
std::optional<std::pair<std::string, double>> scaled_input(const Importer& importer,
                                                           const Node& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  for (std::size_t which = 0; which < 2; ++which) {
    const Constant* constant = importer.constant(node.inputs[which]);
    if (constant == nullptr || !constant->scalar) continue;
    if (node.op == "Mul") return std::pair(node.inputs[1 - which], *constant->scalar);
    if (which == 1) return std::pair(node.inputs[0], 1 / *constant->scalar);
  }
  return std::nullopt;
}

/// Whether a product of two activations reads what a node makes, behind nodes that only move or
/// scale it.
bool leads_to_scores(const Importer& importer, const Node& from) {
  static const std::set<std::string_view> moving{"Cast",    "Div",       "Gather",   "Identity",
                                                 "Mul",     "Reshape",   "Slice",    "Split",
                                                 "Squeeze", "Transpose", "Unsqueeze"};
  constexpr std::size_t max_nodes = 32;  // more than any exporter writes
  std::vector<const Node*> reached{&from};
  for (std::size_t i = 0; i < reached.size() && reached.size() < max_nodes; ++i) {
    for (const std::string& output : reached[i]->outputs) {
      for (const Node* reader : importer.readers_of(output)) {
        const bool has_constant = std::ranges::any_of(reader->inputs, [&](const std::string& name) {
          return importer.constant(name) != nullptr;
        });
        if (reader->op == "MatMul" && !has_constant) return true;
        if (moving.contains(reader->op)) reached.push_back(reader);
      }
    }
  }
  return false;
}

/// Whether a constant is a mask of that kind for so many positions.
bool is_mask(const Constant* constant, Mask mask, std::int64_t positions) {
  if (constant == nullptr || constant->mask != mask || constant->shape.size() < 2) return false;
  const Shape& shape = constant->shape;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
    if (shape[i] != 1) return false;
  }
  return shape.back() == positions && shape[shape.size() - 2] == positions;
}

std::int64_t positions_of(const Scores& scores) {
  const auto& dimensions = scores.queries.dimensions;
  return dimensions.size() < 2 ? 0 : extent_of(dimensions[dimensions.size() - 2]);
}

void set_causal(Importer& importer, const Node& node, Scores scores) {
  if (scores.is_shares) throw CannotMap("it masks shares behind their softmax");
  scores.causal = true;
  importer.set_scores(node, std::move(scores));
}

constexpr const char* other_mask =
    "its mask must be a constant that hides exactly the later positions";

}  // namespace

void map_attention_product(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (const Scores* shares = importer.scores(view.input(0))) {
    if (!shares->is_shares) throw CannotMap("it multiplies scores in front of their softmax");
    return add_attention(importer, node, *shares, importer.view(view.input(1)));
  }
  const View& queries = importer.view(view.input(0));
  const View& keys = importer.view(view.input(1));
  importer.set_scores(node, {.queries = queries, .keys = keys});
}

bool scales_scores(Importer& importer, const Node& node) {
  const auto scaled = scaled_input(importer, node);
  if (!scaled) {
    for (const std::string& input : node.inputs) {  // what has a problem of its own throws
      if (importer.constant(input) == nullptr && importer.scores(input) == nullptr) {
        (void)importer.view(input);
      }
    }
    return false;
  }
  if (const Scores* scores = importer.scores(scaled->first)) {
    if (scores->is_shares) throw CannotMap("it scales shares behind their softmax");
    Scores made = *scores;
    made.scale *= scaled->second;
    importer.set_scores(node, std::move(made));
    return true;
  }
  View made = importer.view(scaled->first);
  if (!leads_to_scores(importer, node)) return false;
  made.scale *= scaled->second;
  importer.set_view(node.outputs.at(0), std::move(made));
  return true;
}

bool masks_scores(Importer& importer, const Node& sum) {
  for (std::size_t which = 0; which < 2 && sum.inputs.size() == 2; ++which) {
    const Scores* scores = importer.scores(sum.inputs[which]);
    if (scores == nullptr) continue;
    const Constant* mask = importer.constant(sum.inputs[1 - which]);
    if (!is_mask(mask, Mask::addend, positions_of(*scores))) throw CannotMap(other_mask);
    set_causal(importer, sum, *scores);
    return true;
  }
  return false;
}

void map_where(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& mask = view.weights(0, "mask");
  for (const std::size_t which : {std::size_t{1}, std::size_t{2}}) {
    const Scores* scores = importer.scores(view.input(which));
    const Constant* number = view.constant(3 - which);
    if (scores == nullptr || number == nullptr) continue;
    const Mask wanted = which == 1 ? Mask::allowed : Mask::blocked;
    const bool blocks = is_blocking(number->scalar ? number->scalar : number->filled);
    if (!blocks || !is_mask(&mask, wanted, positions_of(*scores))) throw CannotMap(other_mask);
    return set_causal(importer, node, *scores);
  }
  throw CannotMap("it chooses between other than scores of attention and a number");
}

bool makes_shares(Importer& importer, const Node& softmax) {
  const NodeView view(importer, softmax);
  const Scores* scores = importer.scores(view.input(0));
  if (scores == nullptr) return false;
  const std::size_t rank = scores->queries.dimensions.size();
  const auto usual = std::int64_t{importer.opset() < 13 ? 1 : -1};
  if (scores->is_shares || place_of(view.attribute("axis", usual), rank) != rank - 1) {
    throw CannotMap("only softmax over the keys of attention is supported");
  }
  Scores made = *scores;
  made.is_shares = true;
  importer.set_scores(softmax, std::move(made));
  return true;
}

bool passes_scores(Importer& importer, const Node& node) {
  const Scores* scores = node.inputs.empty() ? nullptr : importer.scores(node.inputs.front());
  if (scores == nullptr) return false;
  importer.set_scores(node, Scores(*scores));
  return true;
}

}  // namespace parbench::onnx_import
