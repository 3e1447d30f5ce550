// What the nodes of a graph compute and where their results lie: the part of a plan that differs
// between kinds of graphs. graph_plan orders them without knowing more.
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

  /// In program order and placed.
  [[nodiscard]] virtual const GraphNodeList& nodes() const = 0;
  /// The result of a node on the device that computes it, where the node is planned or an input, or
  /// on another device, which has memory for a copy from the first call on.
  [[nodiscard]] virtual Tensor result(int node, int device) = 0;
  /// Plans a node for a stream of its device. The results that it reads have memory there.
  [[nodiscard]] virtual std::vector<Call> plan(int node, Stream& stream) = 0;
  /// Adds the outputs of the graph and a check of every node, once all of them are planned.
  virtual void add_results() = 0;
};

/// A case with its nodes, which its plan and its checks refer to.
struct GraphParts : CaseParts {
  using CaseParts::CaseParts;
  std::unique_ptr<GraphNodes> nodes;
};

}  // namespace parbench
