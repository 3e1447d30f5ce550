// Which convolutions of a network could run as one.
#include "scenarios/inter_op/merges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

Convolution convolution(std::int64_t channels, std::int64_t kernel = 1, std::int64_t groups = 1,
                        bool bias = false) {
  return Convolution({.out_channels = channels,
                      .window = {.kernel = kernel, .padding = kernel / 2},
                      .groups = groups,
                      .bias = bias});
}

Network network_of_convolutions() {
  Network net;
  net.input = {8, 6, 6};
  net.unit("all");
  return net;
}

std::vector<std::vector<int>> sets_of(const Network& network) {
  std::vector<std::vector<int>> sets;
  for (const InterOpMerge& merge : possible_merges(network)) sets.push_back(merge.ops);
  return sets;
}

TEST(PossibleMerges, AreAllSetsOfConvolutionsThatDifferInTheirOutputChannels) {
  Network net = network_of_convolutions();
  const int a = net.add("a", convolution(8), {network_input});
  const int b = net.add("b", convolution(4), {network_input});
  const int sum = net.add("sum", Addition(), {network_input, a});
  const int c = net.add("c", convolution(8), {network_input});
  EXPECT_THAT(sets_of(net), testing::UnorderedElementsAre(std::vector{a, b}, std::vector{a, c},
                                                          std::vector{b, c}, std::vector{a, b, c}));
  EXPECT_LT(b, sum);
}

TEST(PossibleMerges, WantOneInputOneWindowNoGroupsAndTheSameClamping) {
  Network net = network_of_convolutions();
  const int first = net.add("first", convolution(8), {network_input});
  net.add("other window", convolution(8, 3), {network_input});
  net.add("other input", convolution(8), {first});
  net.add("groups", convolution(8, 1, 2), {network_input});
  net.add("bias", convolution(8, 1, 1, true), {network_input});
  net.add("ReLU", Convolution({.out_channels = 8, .relu = true}), {network_input});
  EXPECT_THAT(sets_of(net), testing::IsEmpty());
}

TEST(PossibleMerges, OfManyConvolutionsAreNeighbours) {
  Network net = network_of_convolutions();
  for (int i = 0; i < 6; ++i) net.add(std::to_string(i), convolution(8), {network_input});
  const std::vector<std::vector<int>> sets = sets_of(net);
  EXPECT_EQ(sets.size(), 15U);
  EXPECT_THAT(sets, testing::Contains(std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_THAT(sets, testing::Not(testing::Contains(std::vector{0, 2})));
}

TEST(PossibleMerges, AreThreeConvolutionsOfEachInceptionModule) {
  EXPECT_EQ(possible_merges(googlenet(64)).size(), 9U * 4U);
  EXPECT_THAT(possible_merges(resnet(18, 64)), testing::IsEmpty());
}

}  // namespace
}  // namespace parbench
