// Operators of networks of sequences: embeddings, positions, layer normalisation.
#pragma once

#include <string>
#include <vector>

#include "scenarios/models/onnx/importer.h"
#include "scenarios/models/onnx/operators.h"

namespace parbench::onnx_import {

/// Names of a layer normalisation's constants.
struct LayerNormParts {
  std::string scale;
  std::string shift;
  double epsilon = 1e-5;
};

/// Adds a layer normalisation over the last dimension, whose output is that of `last`. Throws
/// CannotMap.
void add_layer_norm(Importer& importer, const Node& last, const View& source,
                    const LayerNormParts& parts);

/// One direction, from a state of zeros.
void map_lstm(Importer& importer, const Node& node);
void map_layer_norm(Importer& importer, const Node& node);
/// Whether a sum is of an activation and a constant of the shape of a sample; then it has become
/// a layer.
[[nodiscard]] bool map_positions(Importer& importer, const Node& sum);

}  // namespace parbench::onnx_import
