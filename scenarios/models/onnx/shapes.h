// The operators of ONNX that change shapes, or take parts.
#pragma once

#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {

// Each adds what a node becomes, as MapNode says; of constants alone, constants.h.

void map_flatten(Importer& importer, const Node& node);
void map_reshape(Importer& importer, const Node& node);
void map_transpose(Importer& importer, const Node& node);
void map_squeeze(Importer& importer, const Node& node);
void map_unsqueeze(Importer& importer, const Node& node);
void map_split(Importer& importer, const Node& node);
void map_slice(Importer& importer, const Node& node);
/// One position of a dimension, or rows of a table by the tokens of the input.
void map_gather(Importer& importer, const Node& node);
void map_cast(Importer& importer, const Node& node);

/// Rows of a table, by the tokens of the network's input.
void add_embedding(Importer& importer, const Node& node);

}  // namespace parbench::onnx_import
