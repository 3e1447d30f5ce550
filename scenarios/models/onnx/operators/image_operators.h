// The operators of ONNX for images: convolutions, poolings, normalisation of responses, channels.
#pragma once

#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {

// Each adds what a node becomes, as MapNode says.

void map_convolution(Importer& importer, const Node& node);
void map_transposed_convolution(Importer& importer, const Node& node);
void map_max_pool(Importer& importer, const Node& node);
void map_average_pool(Importer& importer, const Node& node);
void map_global_average_pool(Importer& importer, const Node& node);
void map_mean(Importer& importer, const Node& node);
void map_response_norm(Importer& importer, const Node& node);
void map_concatenation(Importer& importer, const Node& node);

/// The shape {C, H, W} of an activation. Throws CannotMap where it is no image.
[[nodiscard]] const Shape& image_shape(const Importer& importer, int activation);
/// Throws CannotMap unless an input of the node is a constant of one number an output.
void check_bias(const NodeView& view, std::size_t which, std::int64_t outputs);

}  // namespace parbench::onnx_import
