// A single scope of names for a model with functions and nested graphs.
#pragma once

namespace onnx {
class ModelProto;
}

namespace parbench::onnx_import {

/// Replaces nodes that call functions of the model by the functions' nodes, and gives unique names
/// to tensors that nested graphs (branches and loops) define: "OUTPUT/ATTRIBUTE/NAME". The inputs
/// of a node with nested graphs are followed by the outer names that these read. Throws
/// std::runtime_error for endless recursion of functions.
void join_scopes(onnx::ModelProto& model);

}  // namespace parbench::onnx_import
