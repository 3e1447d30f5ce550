// Masks of attention that files make of constants.
#pragma once

#include <optional>

#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {

/// The value of all elements of a constant, where it is known.
[[nodiscard]] std::optional<double> value_of(const Constant& constant);

/// A number that a softmax makes zero of.
[[nodiscard]] bool is_blocking(const std::optional<double>& value);

// Of nodes that read constants alone; as MapNode says.

void fold_triangle(Importer& importer, const Node& node);
void fold_equal(Importer& importer, const Node& node);
void fold_not(Importer& importer, const Node& node);
void fold_where(Importer& importer, const Node& node);

}  // namespace parbench::onnx_import
