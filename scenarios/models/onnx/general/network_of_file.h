// Networks of files whose operators have no layers of their own, from general operations.
#pragma once

#include <string>

#include "scenarios/models/network.h"
#include "scenarios/models/onnx/importer.h"
#include "scenarios/models/onnx/reading/graph.h"

namespace parbench::onnx_import {

/// The network that computes the first output of a graph. `path`: of the file, for its values.
/// Throws UsageError, with what follows the file's name in a message, that lists each node that
/// cannot be translated with its reason.
[[nodiscard]] Network general_network(const std::string& path, const Graph& graph,
                                      const ImportOptions& options, bool stored_weights);

}  // namespace parbench::onnx_import
