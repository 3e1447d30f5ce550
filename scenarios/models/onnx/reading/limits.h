// How large a model of a file may be. Files come from anywhere: time and memory have to be bounded.
#pragma once

#include <optional>
#include <string>

namespace onnx {
class ModelProto;
}

namespace parbench::onnx_import {

/// Several times what the largest published networks have, whose time to import stays below a
/// second.
inline constexpr int max_nodes = 50'000;
inline constexpr int max_initializers = 50'000;
/// Of graphs in attributes of nodes, of loops and branches for example: no layer has any.
inline constexpr int max_nested_graphs = 8;

/// Which limit a model exceeds, as what follows the file's name in a message; nothing for one
/// within all of them.
[[nodiscard]] std::optional<std::string> exceeded_limit(const onnx::ModelProto& model);

}  // namespace parbench::onnx_import
