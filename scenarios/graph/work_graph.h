// Computations as graphs of operations on matrices, the work of scenario graph. Data only, without
// device memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ops/ops.h"
#include "scenarios/graph/dispatch.h"

namespace parbench {

enum class NodeKind {
  input,          // random numbers, uniform in [−factor, factor)
  product,        // product of two matrices, each of which may be transposed
  relu,           // max(x, 0)
  relu_gradient,  // second input where the first, the output of the relu, is positive; otherwise 0
  add,            // sum of two matrices
  // gradient of the mean squared error between prediction and target, and the loss itself
  loss_gradient,
  scale,  // product of the input and `factor`
};

/// One operation, whose result is a matrix.
struct WorkNode {
  std::string name;
  NodeKind kind = NodeKind::input;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::vector<int> inputs = {};  // earlier nodes, in the order of the operation's arguments
  bool transpose_a = false;      // for products: whether the first input is transposed
  bool transpose_b = false;
  float factor = 1;
  std::int64_t loss_elements = 0;  // number of elements of the whole batch's prediction
  int device = 0;
};

/// Nodes in program order. Each reads only earlier ones, and writes only its own result.
struct WorkGraph {
  std::vector<WorkNode> nodes;

  [[nodiscard]] const WorkNode& node(int index) const {
    return nodes.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] int size() const { return static_cast<int>(nodes.size()); }
};

/// Returns the operation of a node other than an input.
[[nodiscard]] OpDesc op_of(const WorkGraph& graph, int node, NumberFormat format);

/// Returns the nodes that no other node reads, except inputs: the results of the graph.
[[nodiscard]] std::vector<int> results_of(const WorkGraph& graph);

struct WorkSizes {
  std::int64_t width = 1;  // columns of activations; weights are square
  std::int64_t batch = 1;  // rows of activations
};

/// Returns the number of parts into which `mlp_step` divides the batch: one for each device after
/// the first; two for one or two devices.
[[nodiscard]] int mlp_parts(int devices);

/// Returns the training step of a two-layer perceptron (Dive into Deep Learning, figure 13.3.1).
/// Samples and parameters are on the first device, which adds the gradients of all parts and
/// updates the parameters. Nodes are in the order of the book's program. As in the book, each other
/// device computes a part of the batch. With two devices, the first one also computes a part; a
/// single device computes both parts.
[[nodiscard]] WorkGraph mlp_step(const WorkSizes& sizes, int devices);

/// Returns two chains of diamonds that read each other. A diamond adds a long branch of its chain
/// (product, relu, product) and a short branch of the other chain (product). At the end are two
/// reductions, one over all short branches and one over the ends of all diamonds, and their sum.
/// The graph has about `nodes` nodes in addition to inputs, and at least one diamond per chain. All
/// nodes are on the first device.
[[nodiscard]] WorkGraph diamonds(const WorkSizes& sizes, int nodes);

/// Returns a random graph of `nodes` nodes in addition to inputs, in layers of about √nodes. The
/// first layer has products only; later nodes are products with a probability of 1/2, relus and
/// sums with 1/4 each. Each node reads a node of the previous layer; sums also read a node of any
/// earlier layer. `draw` selects the graph. All nodes are on the first device.
[[nodiscard]] WorkGraph layered(const WorkSizes& sizes, int nodes, std::uint64_t draw);

/// Returns the nodes for placement and ordering, on their current devices, with expected costs in
/// f32.
[[nodiscard]] GraphNodeList nodes_of(const WorkGraph& graph);

/// Places the nodes of a graph on `devices` devices by expected costs (dispatch.h).
void place(WorkGraph& graph, int devices);

}  // namespace parbench
