// One scope of names for a model with functions and nested graphs.
#pragma once

namespace onnx {
class ModelProto;
}

namespace parbench::onnx_import {

/// Replaces nodes that call functions of the model by the functions' nodes, and gives what nested
/// graphs define (of branches and loops) names that no other graph has: "OUTPUT/ATTRIBUTE/NAME". A
/// node with nested graphs has the names that these read from outside behind its own inputs.
/// Throws std::runtime_error where functions call each other without end.
void join_scopes(onnx::ModelProto& model);

}  // namespace parbench::onnx_import
