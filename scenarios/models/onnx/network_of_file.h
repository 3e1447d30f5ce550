// Converts the graph of a file to a network.
#pragma once

#include <string>

#include "scenarios/models/network.h"
#include "scenarios/models/onnx/options.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// Returns the network that computes an output of a file. If `stored_weights`, its parameters are
/// initialised with the file's values, which `load` reads. Throws UsageError if the network cannot
/// be trained, with every node that cannot be translated.
[[nodiscard]] Network network_of_graph(const std::string& name, const Graph& graph,
                                       Translator::Load load, const ImportOptions& options,
                                       bool stored_weights);

}  // namespace parbench::onnx_import
