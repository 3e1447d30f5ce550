// Placement and order of nodes, without devices.
#include "scenarios/graph/dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/graph/work_graph.h"

namespace parbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr WorkSizes middle{.width = 256, .batch = 128};

/// One queue for each device, which receives copies itself.
WorkQueues own_queues() {
  return {.compute = [](int device) { return device; },
          .copies = [](int /*from*/, int to) { return to; }};
}

WorkItem item(int queue, double seconds, std::vector<int> after = {}) {
  return {.queue = queue, .seconds = seconds, .after = std::move(after)};
}

/// When the last item ends if queues take their items in that order.
double length_of(const std::vector<WorkItem>& items, const std::vector<int>& order) {
  std::vector<double> ends(items.size(), 0.0);
  std::map<int, double> free;
  double length = 0;
  for (const int index : order) {
    const WorkItem& one = items[static_cast<std::size_t>(index)];
    double begin = free[one.queue];
    for (const int before : one.after) {
      begin = std::max(begin, ends[static_cast<std::size_t>(before)]);
    }
    ends[static_cast<std::size_t>(index)] = free[one.queue] = begin + one.seconds;
    length = std::max(length, free[one.queue]);
  }
  return length;
}

std::vector<int> program_order(const std::vector<WorkItem>& items) {
  std::vector<int> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

double total_of(const std::vector<WorkItem>& items) {
  double total = 0;
  for (const WorkItem& one : items) total += one.seconds;
  return total;
}

TEST(WorkItems, CopyAResultToADeviceOnce) {
  WorkGraph graph;
  graph.nodes = {{.name = "x", .device = 0},
                 {.name = "a", .kind = NodeKind::relu, .inputs = {0}, .device = 1},
                 {.name = "b", .kind = NodeKind::relu, .inputs = {0}, .device = 1},
                 {.name = "c", .kind = NodeKind::add, .inputs = {1, 2}, .device = 0},
                 {.name = "d", .kind = NodeKind::add, .inputs = {1, 1}, .device = 0}};
  const std::vector<WorkItem> items = work_items_of(nodes_of(graph), own_queues());
  std::vector<std::string> names;
  for (const WorkItem& one : items) {
    names.push_back((one.is_copy ? "copy " : "") + graph.node(one.node).name + "@" +
                    std::to_string(one.device));
  }
  EXPECT_THAT(names, ElementsAre("copy x@1", "a@1", "b@1", "copy a@0", "copy b@0", "c@0", "d@0"));
  EXPECT_THAT(items[0].after, IsEmpty()) << "inputs are there";
  EXPECT_THAT(items[2].after, ElementsAre(0));
  EXPECT_THAT(items[3].after, ElementsAre(1));
  EXPECT_THAT(items[5].after, ElementsAre(3, 4));
  EXPECT_THAT(items[6].after, ElementsAre(3)) << "both inputs are one";
}

TEST(WorkItems, ReadWhatTheirNodesRead) {
  for (const WorkGraph& graph : {mlp_step(middle, 2), mlp_step(middle, 4)}) {
    const std::vector<WorkItem> items = work_items_of(nodes_of(graph), own_queues());
    for (const WorkItem& one : items) {
      if (one.is_copy) continue;
      std::set<int> available;
      for (const int before : one.after) {
        const WorkItem& made = items[static_cast<std::size_t>(before)];
        EXPECT_EQ(made.device, one.device);
        available.insert(made.node);
      }
      for (const int input : graph.node(one.node).inputs) {
        const WorkNode& source = graph.node(input);
        const bool is_there = source.kind == NodeKind::input && source.device == one.device;
        EXPECT_TRUE(is_there || available.contains(input)) << graph.node(one.node).name;
      }
    }
  }
}

TEST(DependencyOrder, TakesTheLongestPathFirst) {
  // The short item comes first in the program, and what waits for the long one is on another queue.
  const std::vector<WorkItem> items{item(0, 1), item(0, 2), item(1, 5, {1})};
  EXPECT_THAT(dependency_order(items), ElementsAre(1, 2, 0));
  EXPECT_DOUBLE_EQ(length_of(items, program_order(items)), 8);
  EXPECT_DOUBLE_EQ(length_of(items, dependency_order(items)), 7);
}

TEST(DependencyOrder, DoesNotWaitForAStepWhileAnotherIsReady) {
  const std::vector<WorkItem> items{item(0, 4), item(1, 9, {0}), item(1, 1)};
  EXPECT_THAT(dependency_order(items), ElementsAre(0, 2, 1));
}

TEST(DependencyOrder, RefusesACycle) {
  EXPECT_THROW(static_cast<void>(dependency_order({item(0, 1, {1}), item(0, 1, {0})})),
               std::invalid_argument);
}

TEST(CriticalPath, IsTheLongestChain) {
  const std::vector<WorkItem> items{item(0, 1), item(0, 5), item(1, 2, {0}), item(0, 1, {1}),
                                    item(1, 1, {2, 3})};
  EXPECT_THAT(critical_path(items), ElementsAre(1, 3, 4));
  EXPECT_THAT(paths_to_end(items), ElementsAre(4, 7, 3, 2, 1));
  EXPECT_THAT(critical_path({}), IsEmpty());
}

/// Random graphs by their draw, and on so many devices.
class Placed : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Placed, OrderIsLegalAndNotShorterThanTheCriticalPath) {
  const auto [draw, devices] = GetParam();
  WorkGraph graph = layered(middle, 60, static_cast<std::uint64_t>(draw));
  place(graph, devices);
  const std::vector<WorkItem> items = work_items_of(nodes_of(graph), own_queues());
  const std::vector<int> order = dependency_order(items);
  std::vector<int> sorted = order;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, program_order(items)) << "each item once";
  std::set<int> done;
  for (const int index : order) {
    for (const int before : items[static_cast<std::size_t>(index)].after) {
      EXPECT_TRUE(done.contains(before));
    }
    done.insert(index);
  }
  double path = 0;
  for (const int index : critical_path(items))
    path += items[static_cast<std::size_t>(index)].seconds;
  EXPECT_GE(length_of(items, order), path * (1 - 1e-9));
  EXPECT_LE(length_of(items, order), total_of(items) * (1 + 1e-9));
}

TEST_P(Placed, AllDevicesHaveNodesAndWeightsLieWhereTheyAreRead) {
  const auto [draw, devices] = GetParam();
  WorkGraph graph = layered(middle, 60, static_cast<std::uint64_t>(draw));
  place(graph, devices);
  std::set<int> used;
  for (const WorkNode& node : graph.nodes) {
    used.insert(node.device);
    if (node.kind == NodeKind::product) {
      EXPECT_EQ(graph.node(node.inputs[1]).device, node.device) << node.name;
    }
  }
  EXPECT_EQ(used.size(), static_cast<std::size_t>(devices));
  EXPECT_EQ(graph.node(0).device, 0) << "samples, which many nodes read";
}

INSTANTIATE_TEST_SUITE_P(Graphs, Placed,
                         testing::Combine(testing::Values(1, 2, 3, 4), testing::Values(2, 3)));

TEST(Place, BranchesOfADiamondGoToDifferentDevices) {
  WorkGraph graph = diamonds({.width = 512, .batch = 512}, 28);
  place(graph, 2);
  const std::vector<WorkItem> items = work_items_of(nodes_of(graph), own_queues());
  EXPECT_LT(length_of(items, dependency_order(items)), 0.7 * total_of(items));
}

TEST(Place, OneDeviceTakesAll) {
  WorkGraph graph = diamonds(middle, 28);
  place(graph, 1);
  EXPECT_EQ(work_items_of(nodes_of(graph), own_queues()).size(), 27U) << "no copies";
}

}  // namespace
}  // namespace parbench
