// Verification of every node of a graph of matrices from what it read.
#pragma once

#include <map>
#include <utility>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/graph/work_graph.h"

namespace parbench {

/// Where results lie once a plan has run.
struct NodeResults {
  std::map<std::pair<int, int>, Tensor> tensors;  // by node and device
  std::map<int, Tensor> losses;                   // by node: one number each
};

/// Adds a check that sampled elements of every node's result are what loops in double make of its
/// inputs on its device.
void add_node_checks(CaseParts& parts, const WorkGraph& graph, const NodeResults& results,
                     NumberFormat format);

}  // namespace parbench
