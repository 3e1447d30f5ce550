// Where the nodes of a graph run and in which order: pure functions from what nodes are expected to
// cost.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/base/work.h"

namespace parbench {

/// A node as placement and order see it, whatever it computes.
struct GraphNode {
  std::string name;
  std::vector<int> inputs = {};  // earlier nodes
  bool is_input = false;         // data that is there before the graph runs
  double seconds = 0;            // expected; 0 for an input
  double copy_seconds = 0;       // expected for a copy of its result to another device
  int device = 0;
  friend bool operator==(const GraphNode&, const GraphNode&) = default;
};

/// Nodes in program order.
using GraphNodeList = std::vector<GraphNode>;

/// Returns what work is expected to cost in relation to other work: seconds of a core of a common
/// processor. Placements and orders follow from it, so that they are the same on every machine.
[[nodiscard]] double expected_seconds(const Work& work);
/// The same for a copy of so many bytes to another device.
[[nodiscard]] double expected_copy_seconds(double bytes);

/// Places all nodes: the one with the longest path to the end first, each on the device where it
/// would end earliest with the copies of what it reads (Topcuoglu et al. 2002: HEFT). Weights, as
/// every input that a single node reads, lie where they are read; other inputs stay where they are.
void place(GraphNodeList& nodes, int devices);

/// What a device is given to do: a node, or a copy of its result to another device.
struct WorkStep {
  int node = 0;
  int device = 0;  // that computes or receives
  bool is_copy = false;
  int queue = 0;
  double seconds = 0;           // expected
  std::vector<int> after = {};  // steps whose results it reads
  friend bool operator==(const WorkStep&, const WorkStep&) = default;
};

/// The queues of a run, by number.
struct WorkQueues {
  std::function<int(int device)> compute;
  std::function<int(int from, int to)> copies;  // for a copy between two devices
};

/// Returns the steps of a graph in program order. A result goes to each device that reads it once,
/// ahead of the first node there that does.
[[nodiscard]] std::vector<WorkStep> steps_of(const GraphNodeList& nodes, const WorkQueues& queues);

/// Returns, for each step, the expected seconds of the longest path that begins with it.
[[nodiscard]] std::vector<double> paths_to_end(const std::vector<WorkStep>& steps);

/// Returns the longest path through the steps, from its beginning.
[[nodiscard]] std::vector<int> critical_path(const std::vector<WorkStep>& steps);

/// Returns the steps in the order in which they would begin if each queue always took the one that
/// can begin first, and of several the one with the longest path to the end (list scheduling).
[[nodiscard]] std::vector<int> dependency_order(const std::vector<WorkStep>& steps);

}  // namespace parbench
