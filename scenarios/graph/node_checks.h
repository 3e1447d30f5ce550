// Verification of every node of a graph of matrices from its actual inputs.
#pragma once

#include <map>
#include <utility>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/graph/work_graph.h"

namespace parbench {

/// Tensors of results after a run of the plan.
struct NodeResults {
  std::map<std::pair<int, int>, Tensor> tensors;  // by node and device
  std::map<int, Tensor> losses;                   // by node, one number each
};

/// Adds a check of sampled elements of every node's result: they are recomputed in double from the
/// node's inputs on its device.
void add_node_checks(CaseParts& parts, const WorkGraph& graph, const NodeResults& results,
                     NumberFormat format);

}  // namespace parbench
