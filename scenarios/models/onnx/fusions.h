// Groups of nodes that exporters write in place of one operator.
#pragma once

#include <vector>

#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {

/// Finds GELUs and layer normalisations among the nodes, which are in the file's order,
/// and gives each group to the importer: its last node is mapped, the others are absorbed. A group
/// of which another node reads a part is none.
void find_fusions(Importer& importer, const std::vector<const Node*>& nodes);

}  // namespace parbench::onnx_import
