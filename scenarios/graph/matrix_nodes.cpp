// Memory and calls of operations on matrices.
#include "scenarios/graph/matrix_nodes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace parbench {
namespace {

Output output_of(CaseData& data, const std::string& name, const Tensor& tensor) {
  return {name, [&data, tensor] { return data.read(tensor); }};
}

}  // namespace

MatrixNodes::MatrixNodes(CaseParts& parts, WorkGraph graph, NumberFormat format)
    : parts_(parts), graph_(std::move(graph)), format_(format), nodes_(nodes_of(graph_)) {
  for (int i = 0; i < graph_.size(); ++i) {
    const WorkNode& node = graph_.node(i);
    const Tensor own = result(i, node.device);
    if (node.kind != NodeKind::input) continue;
    parts_.data.fill(own, {Piece{.count = node.rows * node.columns,
                                 .subsequence = static_cast<std::uint64_t>(i),
                                 .low = -node.factor,
                                 .high = node.factor}});
  }
}

Tensor MatrixNodes::result(int node, int device) {
  const auto [found, is_new] = results_.tensors.try_emplace({node, device});
  if (is_new) {
    const WorkNode& one = graph_.node(node);
    found->second = parts_.data.tensor(device, canonical({one.rows, one.columns}, format_.dtype));
    if (one.kind != NodeKind::input || device != one.device) parts_.data.poison(found->second);
  }
  return found->second;
}

std::vector<Call> MatrixNodes::plan(int node, Stream& stream) {
  const WorkNode& one = graph_.node(node);
  Op& op = parts_.ops.prepare(stream, op_of(graph_, node, format_));
  std::vector<Binding> bindings;
  std::size_t input = 0;
  for (const Argument& argument : op.arguments()) {
    if (argument.access == Access::read) {
      bindings.push_back({argument.role, result(one.inputs.at(input++), one.device).view});
    } else if (argument.role == "loss") {
      Tensor& loss = results_.losses[node];
      loss = parts_.data.tensor(one.device, argument.tensor);
      parts_.data.poison(loss);
      bindings.push_back({argument.role, loss.view});
    } else {
      bindings.push_back({argument.role, result(node, one.device).view});
    }
  }
  return {parbench::bind(op, bindings)};
}

void MatrixNodes::add_results() {
  for (const int node : results_of(graph_)) {
    const WorkNode& one = graph_.node(node);
    parts_.outputs.push_back(output_of(parts_.data, one.name, result(node, one.device)));
  }
  for (const auto& [node, loss] : results_.losses) {
    parts_.outputs.push_back(output_of(parts_.data, graph_.node(node).name, loss));
  }
  add_node_checks(parts_, graph_, results_, format_);
}

}  // namespace parbench
