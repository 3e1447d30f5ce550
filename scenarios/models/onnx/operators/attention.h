// Attention, node by node: what exporters write of scaled dot-product attention in whatever order
// they transpose, divide and scale.
#pragma once

#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {

/// A product of two activations: of queries and keys, or of the shares behind their softmax and
/// values, which makes the layer. Throws CannotMap for any other.
void map_attention_product(Importer& importer, const Node& node);

/// Whether a node reads scores, or scales an activation on its way to them; then it has become a
/// part of what attention does. Throws CannotMap for what it does to no scores.
[[nodiscard]] bool scales_scores(Importer& importer, const Node& node);
[[nodiscard]] bool masks_scores(Importer& importer, const Node& sum);
[[nodiscard]] bool makes_shares(Importer& importer, const Node& softmax);
/// Of a node that changes nothing of its first input.
[[nodiscard]] bool passes_scores(Importer& importer, const Node& node);

/// A constant mask, and the number that stands where it blocks.
void map_where(Importer& importer, const Node& node);

}  // namespace parbench::onnx_import
