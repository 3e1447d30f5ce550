// Networks as nodes that can be placed, without devices.
#include "scenarios/graph/network_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "scenarios/inference/inference_network.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Network two_branches() {
  const Convolution convolution({.out_channels = 64, .window = {.kernel = 3, .padding = 1}});
  Network net;
  net.input = {64, 32, 32};
  net.unit("all");
  const int a = net.add("a", convolution, {network_input});
  const int b = net.add("b", convolution, {network_input});
  net.add("sum", Addition(), {a, b});
  return net;
}

TEST(NetworkNodesAsData, AreTheSamplesAndTheLayersBehindThem) {
  const GraphNodeList nodes = nodes_of(two_branches(), 4);
  std::vector<std::string> names;
  for (const GraphNode& node : nodes) names.push_back(node.name);
  ASSERT_THAT(names, ElementsAre("samples", "a", "b", "sum"));
  EXPECT_TRUE(nodes[0].is_input);
  EXPECT_EQ(nodes[0].seconds, 0);
  EXPECT_THAT(nodes[0].inputs, IsEmpty());
  EXPECT_THAT(nodes[2].inputs, ElementsAre(0));
  EXPECT_THAT(nodes[3].inputs, ElementsAre(1, 2));
}

TEST(NetworkNodesAsData, CostMoreForMoreSamples) {
  const GraphNodeList few = nodes_of(two_branches(), 2);
  const GraphNodeList many = nodes_of(two_branches(), 20);
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_GT(many[i].copy_seconds, few[i].copy_seconds);
    EXPECT_EQ(many[i].seconds > few[i].seconds, !few[i].is_input);
  }
  EXPECT_GT(few[1].seconds, few[3].seconds) << "a convolution and a sum";
}

TEST(NetworkNodesAsData, BranchesGoToDifferentDevices) {
  GraphNodeList nodes = nodes_of(two_branches(), 4);
  place(nodes, 2);
  EXPECT_NE(nodes[1].device, nodes[2].device);
}

TEST(NetworkNodesAsData, ModulesOfAnInceptionAreDivided) {
  GraphNodeList nodes = nodes_of(for_inference(googlenet(128)), 8);
  place(nodes, 2);
  for (const std::string module : {"inception3a", "inception4c", "inception5b"}) {
    std::set<int> devices;
    for (const GraphNode& node : nodes) {
      if (node.name.starts_with(module)) devices.insert(node.device);
    }
    EXPECT_EQ(devices.size(), 2U) << module;
  }
}

}  // namespace
}  // namespace parbench
