// Placement and order of a graph's nodes by expected costs; no dependence on the machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/base/work.h"

namespace parbench {

/// A node with the data that placement and ordering use.
struct GraphNode {
  std::string name;
  std::vector<int> inputs = {};  // earlier nodes
  bool is_input = false;         // whether the node is data that exists before the graph runs
  double seconds = 0;            // expected time; 0 for an input
  double copy_seconds = 0;       // expected time of copying the result to another device
  int device = 0;
  friend bool operator==(const GraphNode&, const GraphNode&) = default;
};

/// Nodes in program order.
using GraphNodeList = std::vector<GraphNode>;

/// Returns the expected seconds of work on a core of a common processor. They only serve to compare
/// nodes, and do not depend on the machine, so placements and orders are the same everywhere.
[[nodiscard]] double expected_seconds(const Work& work);
/// Returns the expected seconds of a copy to another device.
[[nodiscard]] double expected_copy_seconds(double bytes);

/// Assigns a device to each node other than an input, by decreasing length of the longest path to
/// the end: the device where the node would end earliest, including the copies of its inputs
/// (Topcuoglu et al. 2002: HEFT). Inputs with a single reader, such as weights, are placed on the
/// reader's device; other inputs keep their device.
void place(GraphNodeList& nodes, int devices);

/// A work item of a device: a node, or a copy of its result to another device.
struct WorkItem {
  int node = 0;
  int device = 0;  // device that computes the node, or receives the copy
  bool is_copy = false;
  int queue = 0;
  double seconds = 0;           // expected time
  std::vector<int> after = {};  // items whose results this item reads
  friend bool operator==(const WorkItem&, const WorkItem&) = default;
};

/// Functions that return the number of the queue for a node or a copy.
struct WorkQueues {
  std::function<int(int device)> compute;
  std::function<int(int from, int to)> copies;
};

/// Returns the items of a graph in program order. A result is copied once to each device that reads
/// it, before the first node there that reads it.
[[nodiscard]] std::vector<WorkItem> work_items_of(const GraphNodeList& nodes,
                                                  const WorkQueues& queues);

/// Returns, for each item, the expected seconds of the longest path that begins with it.
[[nodiscard]] std::vector<double> paths_to_end(const std::vector<WorkItem>& items);

/// Returns the items of the longest path, from its beginning.
[[nodiscard]] std::vector<int> critical_path(const std::vector<WorkItem>& items);

/// Returns the items in the order of list scheduling: the order in which they would begin if each
/// queue always took the item that can begin first, and among several the one with the longest path
/// to the end.
[[nodiscard]] std::vector<int> dependency_order(const std::vector<WorkItem>& items);

}  // namespace parbench
