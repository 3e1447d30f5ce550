// Builds the graphs node by node.
#include "scenarios/graph/work_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "kernels/base/random.h"
#include "kernels/ops/flops.h"
#include "scenarios/framework/collectives/messages.h"

namespace parbench {
namespace {

constexpr int host = 0;  // device with the parameters
constexpr float learning_rate = 0.5F;

std::size_t index_of(int node) { return static_cast<std::size_t>(node); }

/// Adds nodes, whose shapes are derived from their inputs.
class GraphBuilder {
 public:
  int input(std::string name, std::int64_t rows, std::int64_t columns, float limit, int device) {
    return add({.name = std::move(name),
                .rows = rows,
                .columns = columns,
                .factor = limit,
                .device = device});
  }

  int product(std::string name, int a, int b, bool transpose_a = false, bool transpose_b = false) {
    const WorkNode& left = graph_.node(a);
    const WorkNode& right = graph_.node(b);
    return add({.name = std::move(name),
                .kind = NodeKind::product,
                .rows = transpose_a ? left.columns : left.rows,
                .columns = transpose_b ? right.rows : right.columns,
                .inputs = {a, b},
                .transpose_a = transpose_a,
                .transpose_b = transpose_b,
                .device = left.device});
  }

  /// Adds a product with weights of its own, drawn so that the result keeps the variance of
  /// `source`.
  int weighted(const std::string& name, int source) {
    const std::int64_t width = graph_.node(source).columns;
    const int weights = input("weights of " + name, width, width, weight_limit(width), host);
    return product(name, source, weights);
  }

  /// Adds an operation whose result has the shape of its first input.
  int elementwise(std::string name, NodeKind kind, std::vector<int> inputs, float factor = 1) {
    const WorkNode& first = graph_.node(inputs.front());
    return add({.name = std::move(name),
                .kind = kind,
                .rows = first.rows,
                .columns = first.columns,
                .inputs = std::move(inputs),
                .factor = factor,
                .device = first.device});
  }

  /// Adds the sum of all terms as a chain of additions.
  int sum(const std::string& name, const std::vector<int>& terms) {
    int total = terms.front();
    for (std::size_t i = 1; i < terms.size(); ++i) {
      total = elementwise(fmt::format("{}, {} of {}", name, i, terms.size() - 1), NodeKind::add,
                          {total, terms[i]});
    }
    return total;
  }

  void place(int node, int device) { graph_.nodes[index_of(node)].device = device; }
  void set_loss_elements(int node, std::int64_t count) {
    graph_.nodes[index_of(node)].loss_elements = count;
  }

  /// Returns the limit of uniform numbers with a variance of 1/width.
  [[nodiscard]] static float weight_limit(std::int64_t width) {
    return static_cast<float>(std::sqrt(3.0 / static_cast<double>(width)));
  }

  [[nodiscard]] WorkGraph take() { return std::move(graph_); }

 private:
  int add(WorkNode node) {
    graph_.nodes.push_back(std::move(node));
    return graph_.size() - 1;
  }

  WorkGraph graph_;
};

/// A part of the batch, and the nodes of its forward and backward passes.
struct MlpPart {
  std::string suffix;
  int device = 0;
  int source = 0;
  int target = 0;
  int hidden = 0;
  int active = 0;
  int prediction = 0;
  int error = 0;  // gradient of the prediction
  int hidden_gradient = 0;
};

/// Adds the step in the order of the book's program (`mlp_step`): each operation for all parts
/// before the next operation.
class MlpWriter {
 public:
  MlpWriter(const WorkSizes& sizes, int devices) : sizes_(sizes) {
    const std::int64_t width = sizes.width;
    const float limit = GraphBuilder::weight_limit(width);
    first_ = build_.input("weights 1", width, width, limit, host);
    second_ = build_.input("weights 2", width, width, limit, host);
    const int count = mlp_parts(devices);
    const std::vector<std::int64_t> rows = split_evenly(sizes.batch, count);
    for (int i = 0; i < count; ++i) {
      MlpPart part{.suffix = fmt::format(" of part {}", i + 1),
                   .device = devices > 2 ? i + 1 : std::min(i, devices - 1)};
      part.source = build_.input("samples" + part.suffix, rows[index_of(i)], width, 1, host);
      part.target = build_.input("target" + part.suffix, rows[index_of(i)], width, 1, host);
      parts_.push_back(std::move(part));
    }
  }

  [[nodiscard]] WorkGraph write() {
    for (MlpPart& part : parts_) part.hidden = product("layer 1", part, part.source, first_);
    for (MlpPart& part : parts_) {
      part.active =
          on(part, build_.elementwise("relu" + part.suffix, NodeKind::relu, {part.hidden}));
    }
    for (MlpPart& part : parts_) part.prediction = product("layer 2", part, part.active, second_);
    for (MlpPart& part : parts_) {
      part.error = on(part, build_.elementwise("loss" + part.suffix, NodeKind::loss_gradient,
                                               {part.prediction, part.target}));
      build_.set_loss_elements(part.error, sizes_.batch * sizes_.width);
    }
    update("weights 2", second_, &MlpPart::active, &MlpPart::error);
    for (MlpPart& part : parts_) {
      const int gradient = on(
          part, build_.product("gradient of relu" + part.suffix, part.error, second_, false, true));
      part.hidden_gradient =
          on(part, build_.elementwise("gradient of layer 1" + part.suffix, NodeKind::relu_gradient,
                                      {part.active, gradient}));
    }
    update("weights 1", first_, &MlpPart::source, &MlpPart::hidden_gradient);
    return build_.take();
  }

 private:
  int on(const MlpPart& part, int node) {
    build_.place(node, part.device);
    return node;
  }

  int product(const std::string& name, const MlpPart& part, int source, int weights) {
    return on(part, build_.product(name + part.suffix, source, weights));
  }

  /// Adds nodes that compute the weights' gradient of each part, and on the host nodes that add
  /// these gradients and update the weights.
  void update(const std::string& name, int weights, int MlpPart::*source, int MlpPart::*gradient) {
    std::vector<int> gradients;
    for (const MlpPart& part : parts_) {
      gradients.push_back(on(part, build_.product("gradient of " + name + part.suffix, part.*source,
                                                  part.*gradient, true)));
    }
    const int first_new = static_cast<int>(gradients.back()) + 1;
    const int sum = build_.sum("sum of gradients of " + name, gradients);
    const int step = build_.elementwise("step of " + name, NodeKind::scale, {sum}, -learning_rate);
    const int updated = build_.elementwise("new " + name, NodeKind::add, {weights, step});
    for (int node = first_new; node <= updated; ++node) build_.place(node, host);
  }

  WorkSizes sizes_;
  GraphBuilder build_;
  int first_ = 0;
  int second_ = 0;
  std::vector<MlpPart> parts_;
};

/// Random numbers of a layered graph.
class Draws {
 public:
  explicit Draws(std::uint64_t draw) : stream_{.seed = draw, .subsequence = 0} {}

  /// Returns a number from 0 to `count` − 1.
  [[nodiscard]] int below(int count) {
    const std::uint32_t word = random_words(stream_, next_++).x;
    return static_cast<int>(word % static_cast<std::uint32_t>(count));
  }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace

OpDesc op_of(const WorkGraph& graph, int node, NumberFormat format) {
  const WorkNode& one = graph.node(node);
  const Shape shape{one.rows, one.columns};
  switch (one.kind) {
    case NodeKind::input:
      break;
    case NodeKind::product: {
      const WorkNode& a = graph.node(one.inputs.at(0));
      return Gemm{.m = one.rows,
                  .n = one.columns,
                  .k = one.transpose_a ? a.rows : a.columns,
                  .dtype = format.dtype,
                  .transpose_a = one.transpose_a,
                  .transpose_b = one.transpose_b,
                  .math = format.math};
    }
    case NodeKind::relu:
      return ActivationForward{.shape = shape, .dtype = format.dtype};
    case NodeKind::relu_gradient:
      return ActivationBackward{.shape = shape, .dtype = format.dtype};
    case NodeKind::add:
      return Add{.shape = shape, .dtype = format.dtype};
    case NodeKind::loss_gradient:
      return MseLoss{.shape = shape, .dtype = format.dtype, .total_elements = one.loss_elements};
    case NodeKind::scale:
      return Scale{.shape = shape, .dtype = format.dtype, .factor = one.factor};
  }
  throw std::invalid_argument(fmt::format("{} is an input; no operation computes it", one.name));
}

std::vector<int> results_of(const WorkGraph& graph) {
  std::vector<bool> is_read(graph.nodes.size(), false);
  for (const WorkNode& node : graph.nodes) {
    for (const int input : node.inputs) is_read[index_of(input)] = true;
  }
  std::vector<int> results;
  for (int node = 0; node < graph.size(); ++node) {
    if (!is_read[index_of(node)] && graph.node(node).kind != NodeKind::input) {
      results.push_back(node);
    }
  }
  return results;
}

int mlp_parts(int devices) { return std::max(2, devices - 1); }

WorkGraph mlp_step(const WorkSizes& sizes, int devices) {
  return MlpWriter(sizes, devices).write();
}

WorkGraph diamonds(const WorkSizes& sizes, int nodes) {
  constexpr int nodes_of_pair = 14;  // two diamonds of 5, and their 4 additions in the reductions
  GraphBuilder build;
  const int source = build.input("samples", sizes.batch, sizes.width, 1, host);
  std::vector<int> heads{source, source};
  std::vector<int> short_branches;
  std::vector<int> ends;
  for (int level = 0; level < std::max(1, nodes / nodes_of_pair); ++level) {
    const std::vector<int> before = heads;
    for (const int chain : {0, 1}) {
      const std::string suffix = fmt::format(" of diamond {}{}", chain == 0 ? 'a' : 'b', level + 1);
      int branch = build.weighted("first product" + suffix, before[index_of(chain)]);
      branch = build.elementwise("relu" + suffix, NodeKind::relu, {branch});
      branch = build.weighted("second product" + suffix, branch);
      short_branches.push_back(
          build.weighted("short branch" + suffix, before[index_of(1 - chain)]));
      heads[index_of(chain)] =
          build.elementwise("end" + suffix, NodeKind::add, {branch, short_branches.back()});
      ends.push_back(heads[index_of(chain)]);
    }
  }
  const int first = build.sum("sum of short branches", short_branches);
  const int second = build.sum("sum of ends", ends);
  build.elementwise("sum of both", NodeKind::add, {first, second});
  return build.take();
}

WorkGraph layered(const WorkSizes& sizes, int nodes, std::uint64_t draw) {
  enum class Drawn { product, other_product, relu, sum };
  Draws draws(draw);
  GraphBuilder build;
  std::vector<int> before{build.input("samples", sizes.batch, sizes.width, 1, host)};
  std::vector<int> earlier = before;  // nodes of any earlier layer
  const int in_layer = std::max(2, static_cast<int>(std::lround(std::sqrt(nodes))));
  std::vector<int> layer;
  for (int i = 0; i < nodes; ++i) {
    const std::string name = fmt::format("{}.{}", i / in_layer, i % in_layer);
    const int source = before[index_of(draws.below(static_cast<int>(before.size())))];
    const auto kind = i < in_layer ? Drawn::product : static_cast<Drawn>(draws.below(4));
    if (kind == Drawn::relu) {
      layer.push_back(build.elementwise("relu " + name, NodeKind::relu, {source}));
    } else if (kind == Drawn::sum) {
      const int other = earlier[index_of(draws.below(static_cast<int>(earlier.size())))];
      layer.push_back(build.elementwise("sum " + name, NodeKind::add, {source, other}));
    } else {
      layer.push_back(build.weighted("product " + name, source));
    }
    if (static_cast<int>(layer.size()) < in_layer) continue;
    earlier.insert(earlier.end(), layer.begin(), layer.end());
    before = std::exchange(layer, {});
  }
  return build.take();
}

namespace {

double result_bytes(const WorkNode& node) {
  return static_cast<double>(node.rows * node.columns) * sizeof(float);
}

}  // namespace

GraphNodeList nodes_of(const WorkGraph& graph) {
  GraphNodeList nodes;
  for (int i = 0; i < graph.size(); ++i) {
    const WorkNode& node = graph.node(i);
    GraphNode& made =
        nodes.emplace_back(GraphNode{.name = node.name,
                                     .inputs = node.inputs,
                                     .is_input = node.kind == NodeKind::input,
                                     .copy_seconds = expected_copy_seconds(result_bytes(node)),
                                     .device = node.device});
    if (made.is_input) continue;
    Work work{.flops = flops_of(op_of(graph, i, {})), .bytes = result_bytes(node)};
    for (const int input : node.inputs) work.bytes += result_bytes(graph.node(input));
    made.seconds = expected_seconds(work);
  }
  return nodes;
}

void place(WorkGraph& graph, int devices) {
  GraphNodeList nodes = nodes_of(graph);
  place(nodes, devices);
  for (std::size_t i = 0; i < nodes.size(); ++i) graph.nodes[i].device = nodes[i].device;
}

}  // namespace parbench
