// Plans of scenario graph: the nodes of a graph as tasks of its devices, in different orders.
#pragma once

#include "scenarios/graph/graph_nodes.h"

namespace parbench {

enum class DispatchOrder {
  sequential,     // program order, each item waits for the previous one
  per_device,     // program order on each device; a copy also waits for all earlier tasks of the
                  // device that it copies from
  by_dependency,  // list scheduling, each item waits for the items whose results it reads
};

/// Adds the plan, the results, the checks and the notes of the nodes in `parts`.
void plan_graph(GraphParts& parts, DispatchOrder order);

}  // namespace parbench
