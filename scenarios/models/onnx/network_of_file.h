// From the graph of a file to a network.
#pragma once

#include <string>

#include "scenarios/models/network.h"
#include "scenarios/models/onnx/options.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// The network that computes an output of a file. Its parameters begin with the file's
/// values if `stored_weights`; `load` reads them, and is kept. Throws UsageError for what cannot be
/// trained, with every node that cannot be translated.
[[nodiscard]] Network network_of_graph(const std::string& name, const Graph& graph,
                                       Translator::Load load, const ImportOptions& options,
                                       bool stored_weights);

}  // namespace parbench::onnx_import
