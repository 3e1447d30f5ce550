// Plans of scenario graph: the nodes of a graph as tasks of its devices, in different orders.
#pragma once

#include "scenarios/graph/graph_nodes.h"

namespace parbench {

enum class DispatchOrder {
  sequential,     // program order, each step behind the one before
  per_device,     // program order on each device, which waits for all that another one was given
                  // before it takes a result from there
  by_dependency,  // list scheduling, each step behind those whose results it reads
};

/// Builds the plan, the results and the checks of the nodes that the parts have.
void plan_graph(GraphParts& parts, DispatchOrder order);

}  // namespace parbench
