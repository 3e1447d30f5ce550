// Divides a graph of general operations into layers.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "scenarios/models/network.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// A network, and the constants with the initial values of its parameters, by layer and role.
struct LayeredNetwork {
  Network network;
  std::map<std::pair<int, std::string>, int> constants;
};

/// Returns the layers that compute an operation of the translator's network from its only input:
/// layers of operators, and compositions of the operations between them. Throws CannotTranslate for
/// several inputs, for a tensor without samples between layers, and for two layers that share only
/// some of their weights, unless both are compositions.
[[nodiscard]] LayeredNetwork layered(Translator& translator, int output);

}  // namespace parbench::onnx_import
