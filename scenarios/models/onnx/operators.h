// The operators of ONNX that have a layer.
#pragma once

#include <map>
#include <string_view>

#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {

/// Adds what a node becomes: a layer, an activation that is there already, or a constant. Throws
/// CannotMap.
using MapNode = void (*)(Importer& importer, const Node& node);

/// By the operator's name, all that can be mapped.
[[nodiscard]] const std::map<std::string_view, MapNode>& operators();

}  // namespace parbench::onnx_import
