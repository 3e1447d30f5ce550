// Calls and results of a graph's nodes: the part of a plan that differs between kinds of graphs.
// graph_plan.h plans nodes through this interface.
#pragma once

#include <memory>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/graph/dispatch.h"

namespace parbench {

class GraphNodes {
 public:
  GraphNodes() = default;
  GraphNodes(const GraphNodes&) = delete;
  GraphNodes& operator=(const GraphNodes&) = delete;
  GraphNodes(GraphNodes&&) = delete;
  GraphNodes& operator=(GraphNodes&&) = delete;
  virtual ~GraphNodes() = default;

  /// Returns the nodes in program order, with their devices.
  [[nodiscard]] virtual const GraphNodeList& nodes() const = 0;
  /// Returns the result of a node. On the node's own device, the node must be planned or an input.
  /// On another device, the first call allocates memory for a copy.
  [[nodiscard]] virtual Tensor result(int node, int device) = 0;
  /// Plans a node for a stream of its device. The node's inputs must have memory on this device.
  [[nodiscard]] virtual std::vector<Call> plan(int node, Stream& stream) = 0;
  /// Adds the outputs of the graph and checks of the nodes. Called after all nodes are planned.
  virtual void add_results() = 0;
};

/// A case with the nodes that its plan and its checks refer to.
struct GraphParts : CaseParts {
  using CaseParts::CaseParts;
  std::unique_ptr<GraphNodes> nodes;
};

}  // namespace parbench
