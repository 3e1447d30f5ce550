// Names of layers.
#pragma once

#include <string>

#include "scenarios/models/onnx/reading/graph.h"

namespace parbench::onnx_import {

/// The name of a layer after the node that it begins at. PyTorch's older exporter names nodes after
/// the modules around them, "/layer1/layer1.0/conv1/Conv": with weights "layer1.0.conv1", the name
/// of the module, else "layer1.0.conv1.Conv". Other names are the node's.
[[nodiscard]] std::string layer_name_of(const Node& node, bool has_weights);

}  // namespace parbench::onnx_import
