// Sums, differences, products and quotients of activations and constants: numbers, and one for each
// channel.
#pragma once

#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {

/// Whether a node computes with an activation and a constant; then it has become layers. Constants
/// of channels are trained, numbers are not. Throws CannotMap for any other constant.
[[nodiscard]] bool computes_with_constant(Importer& importer, const Node& node);

/// Multiplies a view by a number, as the output of the node. Throws CannotMap unless it is whole.
[[nodiscard]] View scaled(Importer& importer, const Node& node, const View& view, double factor);

}  // namespace parbench::onnx_import
