// Layers of sequences that are one node each.
#include "scenarios/models/onnx/operators/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/models/layers/addition.h"
#include "scenarios/models/layers/embedding.h"
#include "scenarios/models/layers/layer_norm.h"

namespace parbench::onnx_import {

void add_layer_norm(Importer& importer, const Node& last, const View& source,
                    const LayerNormParts& parts) {
  const Shape& sample = importer.shape_of(source.activation);
  const Constant* scale = importer.constant(parts.scale);
  const Constant* shift = importer.constant(parts.shift);
  const Shape wanted{sample.back()};
  if (scale == nullptr || shift == nullptr || scale->shape != wanted || shift->shape != wanted) {
    throw CannotMap("its scale and shift are not one for each value of a position");
  }
  if (sample.size() > 2) throw CannotMap("its input is an image");
  if (!keeps_rows(source, sample)) throw CannotMap("it is not over the last dimension of a layer");
  importer.add_elementwise(last, LayerNorm(static_cast<float>(parts.epsilon)), source, parts.scale);
  importer.keep_values("scale", *scale);
  importer.keep_values("shift", *shift);
}

void map_layer_norm(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const View source = importer.view(view.input(0));
  const std::size_t rank = source.dimensions.size();
  if (place_of(view.attribute("axis", std::int64_t{-1}), rank) != rank - 1)
    throw CannotMap("it is not over the last dimension alone");
  add_layer_norm(importer, node, source,
                 {view.input(1), view.input(2), view.attribute("epsilon", 1e-5)});
}

void add_embedding(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& table = view.weights(0, "table");
  if (view.attribute("axis", std::int64_t{0}) != 0 || table.shape.size() != 2) {
    throw CannotMap("only choices of rows of a table are supported");
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
