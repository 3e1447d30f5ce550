// A single scope of names for a model with functions and nested graphs.
#pragma once

namespace onnx {
class ModelProto;
}

namespace parbench::onnx_import {

/// Replaces nodes that call functions of the model by the nodes of the functions, and gives unique
/// names to tensors that nested graphs (branches and loops) define: "OUTPUT/ATTRIBUTE/NAME".
/// Appends to the inputs of a node with nested graphs the outer names that these graphs read.
/// Throws std::runtime_error if functions call each other without end, or expand to too many nodes.
void join_scopes(onnx::ModelProto& model);

}  // namespace parbench::onnx_import
