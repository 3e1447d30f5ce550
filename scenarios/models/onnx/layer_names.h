// Names of layers.
#pragma once

#include <string>

#include "scenarios/models/onnx/reading/graph.h"

namespace parbench::onnx_import {

/// Returns the name of a layer by the node at which it begins. PyTorch's older exporter names nodes
/// after the modules around them, "/layer1/layer1.0/conv1/Conv". This becomes "layer1.0.conv1", the
/// name of the module, for layers with weights, otherwise "layer1.0.conv1.Conv". Other names are
/// the node's.
[[nodiscard]] std::string layer_name_of(const Node& node, bool has_weights);

}  // namespace parbench::onnx_import
