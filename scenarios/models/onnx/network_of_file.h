// Converts the graph of a file to a network.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "scenarios/models/network.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// User options for a network of a file.
struct ImportOptions {
  std::optional<std::int64_t> image = {};  // replaces height and width of images
  std::optional<Loss> loss = {};
  std::string prediction = {};  // the name of an output; empty: the first one
  /// Sizes of open dimensions, and values of scalar inputs, by name.
  std::map<std::string, std::int64_t, std::less<>> dimensions = {};

  friend bool operator==(const ImportOptions&, const ImportOptions&) = default;
};

/// Returns the network that computes an output of a file. If `stored_weights`, its parameters are
/// initialised with the file's values, which `load` reads. Throws UsageError if the network cannot
/// be trained, with every node that cannot be translated.
[[nodiscard]] Network network_of_graph(const std::string& name, const Graph& graph,
                                       Translator::Load load, const ImportOptions& options,
                                       bool stored_weights);

}  // namespace parbench::onnx_import
