// Translates the inputs of a file to parts of the only input of the network, or to constants.
#pragma once

#include "scenarios/models/onnx/network_of_file.h"

namespace parbench::onnx_import {

/// Adds all inputs of the file to the translator. Floating-point inputs become the input of the
/// network; if there are none, token inputs do; several ones are concatenated. Of the other inputs,
/// masks become ones, positions become 0, 1, 2, …, an input without dimensions becomes the number
/// that --dim gives, and all others become zeros. Returns whether the input of the network consists
/// of tokens. Throws UsageError if the file has neither kind of input, for an open dimension
/// without a given size, and for a given size with another name.
bool add_inputs(Translator& translator, const Graph& graph, const ImportOptions& options);

}  // namespace parbench::onnx_import
