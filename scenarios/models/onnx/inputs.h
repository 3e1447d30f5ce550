// Translates a file's inputs to parts of the network's only input, or to constants.
#pragma once

#include "scenarios/models/onnx/network_of_file.h"

namespace parbench::onnx_import {

/// Adds all inputs of the file to the translator. Floating-point inputs are concatenated in the
/// network's input; if there are none, token inputs are. Masks are ones, positions are in order,
/// and other integers are zeros; an input without dimensions is a number that the user gives.
/// Returns whether the network's input consists of tokens. Throws UsageError for unknown
/// dimensions, and for sizes whose name is not a dimension.
bool add_inputs(Translator& translator, const Graph& graph, const ImportOptions& options);

}  // namespace parbench::onnx_import
