// Constants that follow from others, and those that follow from shapes.
#pragma once

#include "scenarios/models/onnx/operators.h"

namespace parbench::onnx_import {

/// By the operator's name, what is computed of nodes that read constants alone.
[[nodiscard]] const std::map<std::string_view, MapNode>& foldings();

void map_constant(Importer& importer, const Node& node);
void map_constant_of_shape(Importer& importer, const Node& node);
/// The dimensions of an activation, with a number that stands for the samples.
void map_shape(Importer& importer, const Node& node);

/// The elements that a Slice takes of a dimension.
struct Range {
  std::size_t axis = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// What a Slice node takes of a tensor of that shape. Throws CannotMap for steps other than one.
[[nodiscard]] std::vector<Range> ranges_of(const NodeView& view, const Shape& shape);

}  // namespace parbench::onnx_import
