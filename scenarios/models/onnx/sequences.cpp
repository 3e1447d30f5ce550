// Layers of sequences that are one node each.
#include "scenarios/models/onnx/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/models/layers/addition.h"
#include "scenarios/models/layers/embedding.h"
#include "scenarios/models/layers/layer_norm.h"

namespace parbench::onnx_import {

void add_layer_norm(Importer& importer, const Node& last, int source, const LayerNormParts& parts) {
  const Constant* scale = importer.constant(parts.scale);
  const Constant* shift = importer.constant(parts.shift);
  const Shape wanted{importer.shape_of(source).back()};
  if (scale == nullptr || shift == nullptr || scale->shape != wanted || shift->shape != wanted) {
    throw CannotMap("its scale and shift are not one for each value of a position");
  }
  if (importer.shape_of(source).size() > 2) throw CannotMap("its input is an image");
  importer.add(last, LayerNorm(static_cast<float>(parts.epsilon)), {source}, parts.scale);
  importer.keep_values("scale", *scale);
  importer.keep_values("shift", *shift);
}

void map_layer_norm(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const auto rank = static_cast<std::int64_t>(importer.shape_of(source).size());  // of a sample
  const auto axis = view.attribute("axis", std::int64_t{-1});
  if (axis != -1 && axis != rank) throw CannotMap("it is not over the last dimension alone");
  add_layer_norm(importer, node, source,
                 {view.input(1), view.input(2), view.attribute("epsilon", 1e-5)});
}

void map_transpose(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant* matrix = view.constant(0);
  if (matrix == nullptr) {  // or the layer is made by what alone reads it
    (void)view.activation(0);
    throw CannotMap("it is not between two reshapes that shuffle channels");
  }
  const std::vector<std::int64_t> swapped{1, 0};
  if (matrix->shape.size() != 2 || view.attribute("perm", swapped) != swapped) {
    throw CannotMap("it is no matrix of weights");
  }
  Constant made = *matrix;
  std::ranges::reverse(made.shape);
  made.transposed = !made.transposed;
  made.mask = Mask::none;
  importer.fold(node, std::move(made));
}

namespace {

/// Whether indices are 0, 1, … up to the number of rows.
bool are_all_rows(const Constant& indices, std::int64_t rows) {
  const auto& values = indices.integers;
  if (std::cmp_not_equal(values.size(), rows)) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::cmp_not_equal(values[i], i)) return false;
  }
  return true;
}

}  // namespace

void map_gather(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& table = view.weights(0, "table");
  if (view.attribute("axis", std::int64_t{0}) != 0 || table.shape.size() != 2) {
    throw CannotMap("it is no choice of rows of a table");
  }
  if (const Constant* indices = view.constant(1)) {
    if (!are_all_rows(*indices, table.shape[0])) {
      throw CannotMap("it chooses other rows of a table than all in their order");
    }
    Constant made = table;
    made.shape = indices->shape;
    made.shape.push_back(table.shape[1]);
    return importer.fold(node, std::move(made));
  }
  if (!importer.is_tokens(view.input(1))) {
    throw CannotMap("its indices are not the tokens of the network's input");
  }
  importer.set_vocabulary(table.shape[0]);
  importer.add(node, Embedding(table.shape[0], table.shape[1]), {network_input}, view.input(0));
  importer.keep_values("weights", table);
}

bool map_positions(Importer& importer, const Node& sum) {
  const NodeView view(importer, sum);
  for (std::size_t which = 0; which < 2; ++which) {
    const Constant* table = view.constant(which);
    if (table == nullptr || view.constant(1 - which) != nullptr) continue;
    const int source = view.activation(1 - which);
    const Shape& sample = importer.shape_of(source);
    if (sample.size() != 2 || (table->shape != sample && table->shape != with_samples(1, sample))) {
      continue;
    }
    importer.add(sum, LearnedPositions(), {source}, sum.inputs[which]);
    importer.keep_values("addend", *table);
    return true;
  }
  return false;
}

}  // namespace parbench::onnx_import
