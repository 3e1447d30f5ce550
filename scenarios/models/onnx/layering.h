// Divides a graph of general operations into layers.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "scenarios/models/network.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// A network, and the constants with its parameters' initial values, by layer and role.
struct LayeredNetwork {
  Network network;
  std::map<std::pair<int, std::string>, int> constants;
};

/// Returns the layers that compute an operation of the translator's network from its only input:
/// layers made by operators, and compositions of the operations between them. Throws
/// CannotTranslate if layers would have to exchange an unsupported tensor, or if weights belong to
/// several layers.
[[nodiscard]] LayeredNetwork layered(Translator& translator, int output);

}  // namespace parbench::onnx_import
