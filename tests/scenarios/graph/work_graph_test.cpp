// The graphs of scenario graph as data.
#include "scenarios/graph/work_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernels/ops/checks.h"
#include "kernels/ops/operands.h"

namespace parbench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;

constexpr WorkSizes small{.width = 6, .batch = 5};

/// Every operation must accept what its inputs are, in the order of its arguments.
void expect_valid(const WorkGraph& graph) {
  for (int i = 0; i < graph.size(); ++i) {
    const WorkNode& node = graph.node(i);
    SCOPED_TRACE(node.name);
    EXPECT_THAT(node.inputs, Each(AllOf(Ge(0), testing::Lt(i))));
    if (node.kind == NodeKind::input) {
      EXPECT_THAT(node.inputs, testing::IsEmpty());
      continue;
    }
    const OpDesc op = op_of(graph, i, {});
    EXPECT_NO_THROW(check(op));
    std::vector<Shape> read;
    Shape written;
    for (const Operand& operand : operands_of(op)) {
      if (operand.access == Access::read) read.push_back(operand.tensor.shape);
      if (operand.access == Access::write) written = operand.tensor.shape;
    }
    ASSERT_EQ(read.size(), node.inputs.size());
    for (std::size_t k = 0; k < read.size(); ++k) {
      const WorkNode& input = graph.node(node.inputs[k]);
      EXPECT_EQ(read[k], Shape({input.rows, input.columns})) << input.name;
    }
    EXPECT_EQ(written, Shape({node.rows, node.columns}));
  }
}

std::vector<std::string> names_of(const WorkGraph& graph, const std::vector<int>& nodes) {
  std::vector<std::string> names;
  for (const int node : nodes) names.push_back(graph.node(node).name);
  return names;
}

int operations_of(const WorkGraph& graph) {
  return static_cast<int>(std::ranges::count_if(
      graph.nodes, [](const WorkNode& node) { return node.kind != NodeKind::input; }));
}

std::set<int> devices_of(const WorkGraph& graph) {
  std::set<int> devices;
  for (const WorkNode& node : graph.nodes) devices.insert(node.device);
  return devices;
}

TEST(WorkGraphs, HaveOperationsThatFitTheirInputs) {
  for (const int devices : {1, 2, 3, 5}) expect_valid(mlp_step(small, devices));
  for (const int nodes : {1, 28, 60}) expect_valid(diamonds(small, nodes));
  for (const std::uint64_t draw : {0U, 1U, 2U, 99U}) expect_valid(layered(small, 40, draw));
  expect_valid(layered(small, 1, 3));
}

TEST(WorkGraphs, StepOfAPerceptronUpdatesBothWeightsOnTheFirstDevice) {
  const WorkGraph graph = mlp_step(small, 3);
  const std::vector<int> results = results_of(graph);
  EXPECT_THAT(names_of(graph, results), ElementsAre("new weights 2", "new weights 1"));
  for (const int result : results) EXPECT_EQ(graph.node(result).device, 0);
  for (const WorkNode& node : graph.nodes) {
    const bool is_of_part = node.name.find("of part") != std::string::npos;
    const bool is_input = node.kind == NodeKind::input;
    if (is_of_part && !is_input) {
      EXPECT_EQ(node.device, node.name.ends_with('1') ? 1 : 2) << node.name;
    } else {
      EXPECT_EQ(node.device, 0) << node.name;
    }
  }
}

TEST(WorkGraphs, PerceptronHasAPartForEachComputingDevice) {
  EXPECT_EQ(mlp_parts(1), 2);
  EXPECT_EQ(mlp_parts(2), 2);
  EXPECT_EQ(mlp_parts(3), 2);
  EXPECT_EQ(mlp_parts(5), 4);
  EXPECT_EQ(devices_of(mlp_step(small, 2)), (std::set{0, 1}));
  EXPECT_EQ(devices_of(mlp_step(small, 5)), (std::set{0, 1, 2, 3, 4}));
  EXPECT_EQ(devices_of(mlp_step(small, 1)), std::set{0});
  std::int64_t rows = 0;
  for (const WorkNode& node : mlp_step(small, 5).nodes) {
    if (node.name.starts_with("samples")) rows += node.rows;
  }
  EXPECT_EQ(rows, small.batch);
}

TEST(WorkGraphs, LossOfAPartCountsTheWholeBatch) {
  for (const WorkNode& node : mlp_step(small, 3).nodes) {
    if (node.kind == NodeKind::loss_gradient) {
      EXPECT_EQ(node.loss_elements, small.batch * small.width);
    }
  }
}

TEST(WorkGraphs, DiamondsEndInTwoReductionsAndTheirSum) {
  const WorkGraph graph = diamonds(small, 28);
  EXPECT_EQ(operations_of(graph), 27);
  const std::vector<int> results = results_of(graph);
  ASSERT_THAT(names_of(graph, results), ElementsAre("sum of both"));
  EXPECT_THAT(names_of(graph, graph.node(results[0]).inputs),
              ElementsAre("sum of short branches, 3 of 3", "sum of ends, 3 of 3"));
}

TEST(WorkGraphs, DiamondsReadTheOtherChain) {
  const WorkGraph graph = diamonds(small, 28);
  const auto inputs_of = [&](const std::string& name) {
    const auto found = std::ranges::find(graph.nodes, name, &WorkNode::name);
    return names_of(graph, found->inputs);
  };
  EXPECT_THAT(inputs_of("first product of diamond a2"), Contains("end of diamond a1"));
  EXPECT_THAT(inputs_of("short branch of diamond a2"), Contains("end of diamond b1"));
}

TEST(WorkGraphs, RandomLayersFollowFromTheDraw) {
  const auto shape_of = [](std::uint64_t draw) {
    std::vector<std::vector<int>> inputs;
    for (const WorkNode& node : layered(small, 40, draw).nodes) inputs.push_back(node.inputs);
    return inputs;
  };
  EXPECT_EQ(shape_of(5), shape_of(5));
  EXPECT_NE(shape_of(5), shape_of(6));
  for (const int nodes : {1, 2, 17, 40}) {
    EXPECT_EQ(operations_of(layered(small, nodes, 5)), nodes);
  }
}

TEST(WorkGraphs, RandomLayersHaveAllKinds) {
  std::set<NodeKind> kinds;
  for (const WorkNode& node : layered(small, 60, 1).nodes) kinds.insert(node.kind);
  EXPECT_EQ(kinds, (std::set{NodeKind::input, NodeKind::product, NodeKind::relu, NodeKind::add}));
}

TEST(WorkGraphs, ProductsAreExpectedToCostMost) {
  const WorkGraph graph = mlp_step({.width = 512, .batch = 512}, 3);
  const GraphNodeList nodes = nodes_of(graph);
  double shortest_product = 1;
  double longest_other = 0;
  for (int i = 0; i < graph.size(); ++i) {
    const double cost = nodes[static_cast<std::size_t>(i)].seconds;
    if (graph.node(i).kind == NodeKind::input) {
      EXPECT_EQ(cost, 0);
    } else if (graph.node(i).kind == NodeKind::product) {
      shortest_product = std::min(shortest_product, cost);
    } else {
      longest_other = std::max(longest_other, cost);
    }
  }
  EXPECT_GT(shortest_product, longest_other);
  EXPECT_GT(longest_other, 0);
}

}  // namespace
}  // namespace parbench
