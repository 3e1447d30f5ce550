// Computations as graphs of operations on matrices: what scenario graph runs. Pure data, without
// devices' memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ops/ops.h"
#include "scenarios/graph/dispatch.h"

namespace parbench {

enum class NodeKind {
  input,          // random numbers, uniform in [−factor, factor)
  product,        // of two matrices, each of them transposed or not
  relu,           // max(x, 0)
  relu_gradient,  // of the second input behind the relu that is the first
  add,            // of two matrices
  loss_gradient,  // of the mean squared error between prediction and target, and the loss itself
  scale,          // by factor
};

/// One operation, its result a matrix.
struct WorkNode {
  std::string name;
  NodeKind kind = NodeKind::input;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::vector<int> inputs = {};  // earlier nodes, in the order of the operation's arguments
  bool transpose_a = false;      // of a product
  bool transpose_b = false;
  float factor = 1;
  std::int64_t loss_elements = 0;  // of the whole batch, where this is a part of it
  int device = 0;
};

/// Nodes in program order: each reads earlier ones alone, and writes nothing but its own result.
struct WorkGraph {
  std::vector<WorkNode> nodes;

  [[nodiscard]] const WorkNode& node(int index) const {
    return nodes.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] int size() const { return static_cast<int>(nodes.size()); }
};

/// Returns the operation of a node that is no input.
[[nodiscard]] OpDesc op_of(const WorkGraph& graph, int node, NumberFormat format);

/// Returns the nodes that no other one reads, inputs left out: the results of the graph.
[[nodiscard]] std::vector<int> results_of(const WorkGraph& graph);

struct WorkSizes {
  std::int64_t width = 1;  // columns of activations; weights are square
  std::int64_t batch = 1;  // rows of activations
};

/// The parts of the batch that `mlp_step` divides it into: one for each device behind the first,
/// and two on one or two devices.
[[nodiscard]] int mlp_parts(int devices);

/// The training step of a perceptron of two layers (Dive into Deep Learning, figure 13.3.1).
/// Samples and parameters lie on the first device, which adds the gradients of all parts and
/// updates the parameters. Nodes are in the order in which the book's program has them, and on
/// their devices. With two devices the first one computes a part of the batch as well.
[[nodiscard]] WorkGraph mlp_step(const WorkSizes& sizes, int devices);

/// Two chains of diamonds that read each other: a diamond adds a long branch of its chain (product,
/// relu, product) and a short one of the other chain (product). Two reductions follow, over all
/// short branches and over the ends of all diamonds, and the sum of both. About so many nodes
/// beside inputs, at least one diamond in each chain. All on the first device.
[[nodiscard]] WorkGraph diamonds(const WorkSizes& sizes, int nodes);

/// A random graph of so many nodes beside inputs, in layers of about √nodes: half of them products,
/// a quarter relus, a quarter sums. Each reads a node of the layer before, a sum another node of
/// any layer before. `draw` chooses the graph. All on the first device.
[[nodiscard]] WorkGraph layered(const WorkSizes& sizes, int nodes, std::uint64_t draw);

/// Returns the nodes as placement and order see them, each on the device that it has, with expected
/// costs in f32.
[[nodiscard]] GraphNodeList nodes_of(const WorkGraph& graph);

/// Places the nodes of a graph on so many devices by their expected costs (dispatch.h).
void place(WorkGraph& graph, int devices);

}  // namespace parbench
