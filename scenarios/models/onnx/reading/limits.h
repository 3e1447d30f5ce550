// Limits for models from files. Files may be from untrusted sources, so time and memory must be
// bounded.
#pragma once

#include <optional>
#include <string>

namespace onnx {
class ModelProto;
}

namespace parbench::onnx_import {

/// Maximum numbers of nodes and initializers, far above those of published networks.
inline constexpr int max_nodes = 50'000;
inline constexpr int max_initializers = 50'000;
/// Maximum depth of graphs in attributes of nodes, such as loops and branches; ordinary layers have
/// none.
inline constexpr int max_nested_graphs = 8;

/// Returns which limit a model exceeds, as the part of a message after the file's name; nothing if
/// it exceeds none.
[[nodiscard]] std::optional<std::string> exceeded_limit(const onnx::ModelProto& model);

}  // namespace parbench::onnx_import
