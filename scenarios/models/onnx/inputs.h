// What a file's inputs become: parts of the network's only input, or constants.
#pragma once

#include "scenarios/models/onnx/options.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// Gives the translator all inputs of the file. Those of floating-point numbers lie one behind the
/// other in the network's input; where there are none, those of tokens do. Masks are ones,
/// positions are in their order, and other whole numbers are zeros; an input without dimensions is
/// a number that the user gives. Returns whether the network's input is of tokens. Throws
/// UsageError for dimensions that are not known, and for sizes that name none.
bool add_inputs(Translator& translator, const Graph& graph, const ImportOptions& options);

}  // namespace parbench::onnx_import
