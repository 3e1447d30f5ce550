// Parts of images, and zeros around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {

/// Zeros at the edges of images.
void map_pad(Importer& importer, const Node& node);

/// Whether a name is an image.
[[nodiscard]] bool is_image(const Importer& importer, const std::string& name);

/// A Split of an image whose parts have so many positions along an axis.
void split_image(Importer& importer, const Node& node, std::size_t axis,
                 const std::vector<std::int64_t>& sizes);
/// A Slice of an image.
void slice_image(Importer& importer, const Node& node);

/// Adds a layer that pads an image, where there is something to pad, with the output of the node.
/// Returns the padded image.
[[nodiscard]] int padded(Importer& importer, const Node& node, int image, const Edges& edges);

}  // namespace parbench::onnx_import
