// Nodes that are operations on matrices.
#pragma once

#include <map>
#include <utility>

#include "scenarios/graph/graph_nodes.h"
#include "scenarios/graph/work_graph.h"

namespace parbench {

/// Tensors with the results of nodes, and with copies on other devices.
struct NodeResults {
  std::map<std::pair<int, int>, Tensor> tensors;  // by node and device
  std::map<int, Tensor> losses;                   // by node, one number each
};

class MatrixNodes final : public GraphNodes {
 public:
  /// `parts` must outlive the object; the nodes of the graph must be placed.
  MatrixNodes(CaseParts& parts, WorkGraph graph, NumberFormat format);

  [[nodiscard]] const GraphNodeList& nodes() const override { return nodes_; }
  [[nodiscard]] Tensor result(int node, int device) override;
  [[nodiscard]] std::vector<Call> plan(int node, Stream& stream) override;
  void add_results() override;

 private:
  CaseParts& parts_;
  WorkGraph graph_;
  NumberFormat format_;
  GraphNodeList nodes_;
  NodeResults results_;
};

}  // namespace parbench
