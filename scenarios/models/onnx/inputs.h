// Translates a file's inputs to parts of the network's only input, or to constants.
#pragma once

#include "scenarios/models/onnx/network_of_file.h"

namespace parbench::onnx_import {

/// Adds all inputs of the file to the translator. Floating-point inputs with dimensions, or token
/// inputs if there are none, become the network's input; several are concatenated. Other inputs
/// become constants: masks ones, positions 0, 1, 2, …, an input without dimensions its number in
/// --dim, and the rest zeros. Returns whether the network's input consists of tokens. Throws
/// UsageError if the file has neither kind of input, for an input without a batch dimension and a
/// further dimension, for an open dimension or a single number without a value in --dim, and for
/// other names in --dim.
bool add_inputs(Translator& translator, const Graph& graph, const ImportOptions& options);

}  // namespace parbench::onnx_import
