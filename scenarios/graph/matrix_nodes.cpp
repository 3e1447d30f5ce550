// Memory, calls and checks of operations on matrices.
#include "scenarios/graph/matrix_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/framework/checks/spot_check.h"

namespace parbench {
namespace {

Output output_of(CaseData& data, const std::string& name, const Tensor& tensor) {
  return {name, [&data, tensor] { return data.read(tensor); }};
}

// --- checks ---

constexpr int random_positions = 48;

/// Values that a node reads.
struct NodeInputs {
  const WorkGraph& graph;
  const WorkNode& node;
  std::vector<std::vector<float>> values;

  [[nodiscard]] double at(std::size_t input, std::int64_t row, std::int64_t column) const {
    const WorkNode& source = graph.node(node.inputs[input]);
    return values[input][static_cast<std::size_t>(row * source.columns + column)];
  }
};

Expected expected_product(const NodeInputs& inputs, std::int64_t row, std::int64_t column) {
  const WorkNode& node = inputs.node;
  const WorkNode& a = inputs.graph.node(node.inputs[0]);
  const std::int64_t inner = node.transpose_a ? a.rows : a.columns;
  Expected want;
  for (std::int64_t k = 0; k < inner; ++k) {
    want.add(node.transpose_a ? inputs.at(0, k, row) : inputs.at(0, row, k),
             node.transpose_b ? inputs.at(1, column, k) : inputs.at(1, k, column));
  }
  return want;
}

Expected expected_element(const NodeInputs& inputs, std::int64_t row, std::int64_t column) {
  const WorkNode& node = inputs.node;
  Expected want;
  switch (node.kind) {
    case NodeKind::input:
      break;
    case NodeKind::product:
      return expected_product(inputs, row, column);
    case NodeKind::relu:
      want.add(std::max(inputs.at(0, row, column), 0.0), 1);
      break;
    case NodeKind::relu_gradient:
      want.add(inputs.at(0, row, column) > 0 ? inputs.at(1, row, column) : 0.0, 1);
      break;
    case NodeKind::add:
      want.add(inputs.at(0, row, column), 1);
      want.add(inputs.at(1, row, column), 1);
      break;
    case NodeKind::loss_gradient: {
      const double factor = 2.0 / static_cast<double>(node.loss_elements);
      want.add(inputs.at(0, row, column), factor);
      want.add(-inputs.at(1, row, column), factor);
      break;
    }
    case NodeKind::scale:
      want.add(inputs.at(0, row, column), node.factor);
      break;
  }
  return want;
}

/// Returns what the node's part of the batch contributes to the loss.
Expected expected_loss(const NodeInputs& inputs) {
  Expected want;
  for (std::size_t i = 0; i < inputs.values[0].size(); ++i) {
    const double difference = static_cast<double>(inputs.values[0][i]) - inputs.values[1][i];
    want.add(difference, difference / static_cast<double>(inputs.node.loss_elements));
  }
  return want;
}

std::string not_expected(const std::string& what, float got, double want) {
  return fmt::format("{} is {}, computed naively {}", what, got, want);
}

std::optional<std::string> check_node(CaseData& data, const WorkGraph& graph,
                                      const NodeResults& results, int index, NumberFormat format) {
  const WorkNode& node = graph.node(index);
  NodeInputs inputs{.graph = graph, .node = node, .values = {}};
  for (const int input : node.inputs) {
    inputs.values.push_back(data.read(results.tensors.at({input, node.device})));
  }
  const std::vector<float> got = data.read(results.tensors.at({index, node.device}));
  for (const Shape& at : spot_positions({node.rows, node.columns}, random_positions)) {
    const Expected want = expected_element(inputs, at[0], at[1]);
    const float found = got[static_cast<std::size_t>(at[0] * node.columns + at[1])];
    if (agrees(found, want, format)) continue;
    return not_expected(fmt::format("{}, row {}, column {}", node.name, at[0], at[1]), found,
                        want.value);
  }
  const auto loss = results.losses.find(index);
  if (loss == results.losses.end()) return std::nullopt;
  const Expected want = expected_loss(inputs);
  const float found = data.read(loss->second).at(0);
  if (agrees(found, want, {})) return std::nullopt;
  return not_expected(fmt::format("the value of {}", node.name), found, want.value);
}

/// Adds a check of sampled elements of every node's result, and of all losses: they are recomputed
/// in double from the node's inputs on the node's device.
void add_node_checks(CaseParts& parts, const WorkGraph& graph, const NodeResults& results,
                     NumberFormat format) {
  const auto check_nodes = [&parts, graph, results, format]() -> std::optional<std::string> {
    for (int node = 0; node < graph.size(); ++node) {
      if (graph.node(node).kind == NodeKind::input) continue;
      if (auto wrong = check_node(parts.data, graph, results, node, format)) return wrong;
    }
    return std::nullopt;
  };
  parts.checks.push_back({"sampled elements of every node computed naively", check_nodes});
}

}  // namespace

// --- nodes ---

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
