// Converts the graph of a file to a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/models/models.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// User options for a network of a file.
struct ImportOptions {
  std::optional<std::int64_t> image = {};  // replaces height and width of images
  FileOptions file = {};

  friend bool operator==(const ImportOptions&, const ImportOptions&) = default;
};

/// Returns the network that computes an output of a file. `load` reads values of constants. With
/// `stored_weights`, parameters are initialised with values of the file. Throws UsageError if nodes
/// cannot be translated, with the reasons, and if the network cannot be trained.
[[nodiscard]] Network network_of_graph(const std::string& name, const Graph& graph,
                                       Translator::Load load, const ImportOptions& options);

}  // namespace parbench::onnx_import
