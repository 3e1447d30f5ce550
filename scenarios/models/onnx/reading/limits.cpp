// Counts the parts of a model, including nested graphs.
#include "scenarios/models/onnx/reading/limits.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <vector>

namespace parbench::onnx_import {
namespace {

struct Nested {
  const onnx::GraphProto* graph;
  int depth;
};

void add_graphs_of(const onnx::NodeProto& node, int depth, std::vector<Nested>& graphs) {
  for (const onnx::AttributeProto& one : node.attribute()) {
    if (one.has_g()) graphs.push_back({&one.g(), depth});
    for (const onnx::GraphProto& graph : one.graphs()) graphs.push_back({&graph, depth});
  }
}

}  // namespace

std::optional<std::string> exceeded_limit(const onnx::ModelProto& model) {
  std::int64_t nodes = 0;
  std::int64_t initializers = 0;
  std::vector<Nested> graphs{{&model.graph(), 0}};
  while (!graphs.empty()) {
    const auto [graph, depth] = graphs.back();
    graphs.pop_back();
    if (depth > max_nested_graphs) {
      return fmt::format("has graphs inside of graphs, more than {} deep", max_nested_graphs);
    }
    nodes += graph->node_size();
    initializers += graph->initializer_size();
    for (const onnx::NodeProto& node : graph->node()) add_graphs_of(node, depth + 1, graphs);
  }
  if (nodes > max_nodes) return fmt::format("has {} nodes; allowed are {}", nodes, max_nodes);
  if (initializers > max_initializers) {
    return fmt::format("has {} initializers; allowed are {}", initializers, max_initializers);
  }
  return std::nullopt;
}

}  // namespace parbench::onnx_import
