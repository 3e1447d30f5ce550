// Plans of scenario graph: the nodes of a graph as tasks of its devices, in different orders.
#pragma once

#include "scenarios/framework/prepared_case.h"
#include "scenarios/graph/dispatch.h"
#include "scenarios/graph/work_graph.h"

namespace parbench {

enum class DispatchOrder {
  sequential,     // program order, each step behind the one before
  per_device,     // program order on each device, which waits for all that another one was given
                  // before it takes a result from there
  by_dependency,  // list scheduling, each step behind those whose results it reads
};

/// Builds the plan, the data and the checks of a graph whose nodes are placed.
void plan_graph(CaseParts& parts, const WorkGraph& graph, NumberFormat format, DispatchOrder order);

}  // namespace parbench
