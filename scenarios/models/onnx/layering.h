// From a graph of general operations to a network of layers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "scenarios/models/network.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// A network, and the constants that its parameters begin as, by layer and role.
struct LayeredNetwork {
  Network network;
  std::map<std::pair<int, std::string>, int> constants;
};

/// The layers that compute an operation of the translator's network from its only input: those that
/// operators have made, and compositions of what lies between them. Throws CannotTranslate where a
/// tensor crosses that layers cannot exchange, or weights belong to several layers.
[[nodiscard]] LayeredNetwork layered(Translator& translator, int output);

}  // namespace parbench::onnx_import
