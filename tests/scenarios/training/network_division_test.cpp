// What shards have of a divided network.
#include "scenarios/training/network_division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "scenarios/models/layers/linear.h"
#include "scenarios/models/models.h"
#include "scenarios/training/batch_data.h"

namespace parbench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint64_t seed = 7;

Network small_gpt() {
  return gpt({.layers = 2, .hidden = 12, .heads = 6, .sequence = 4, .vocabulary = 10});
}

const Layer& layer_named(const Network& network, const std::string& name) {
  return *std::ranges::find(network.layers, name, &Layer::name);
}

/// Where each element of a whole parameter is found: how many shards have it.
std::vector<int> owners(const NetworkDivision& division, const ParameterSpec& spec) {
  std::vector<int> count(static_cast<std::size_t>(element_count(spec.shape)));
  for (int shard = 0; shard < division.shards(); ++shard) {
    for (const NetworkDivision::Run& run : division.runs(spec.name, shard)) {
      for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
        ++count.at(static_cast<std::size_t>(i));
      }
    }
  }
  return count;
}

TEST(NetworkDivision, ShardsHaveEveryElementOfDividedParametersOnce) {
  const NetworkDivision division(small_gpt(), 3, RestOfNetwork::repeated, seed);
  int divided = 0;
  for (const ParameterSpec& spec : division.parameters()) {
    const int want = division.is_repeated(spec.name) ? 3 : 1;
    if (want == 1) ++divided;
    EXPECT_THAT(owners(division, spec), ::testing::Each(want)) << spec.name;
  }
  EXPECT_EQ(divided, 2 * 8) << "weights and bias of four layers of each block";
}

TEST(NetworkDivision, HasNoOtherParameters) {
  const NetworkDivision division(small_gpt(), 3, RestOfNetwork::repeated, seed);
  const auto message = ThrowsMessage<std::invalid_argument>("no parameter nowhere");
  EXPECT_THAT([&] { static_cast<void>(division.is_repeated("nowhere")); }, message);
  EXPECT_THAT([&] { static_cast<void>(division.runs("nowhere", 0)); }, message);
}

TEST(NetworkDivision, ShardsHaveTheSameLayersWithPartsOfTheInnerOnes) {
  const Network whole = small_gpt();
  const NetworkDivision division(whole, 3, RestOfNetwork::repeated, seed);
  for (int shard = 0; shard < 3; ++shard) {
    const Network& part = division.network(shard);
    ASSERT_EQ(part.layers.size(), whole.layers.size());
    EXPECT_EQ(layer_named(part, "h.1.attn.c_attn").output, (Shape{4, 12}));
    EXPECT_EQ(layer_named(part, "h.1.attn").output, (Shape{4, 4})) << "two of six heads";
    EXPECT_EQ(layer_named(part, "h.1.attn.c_proj").output, (Shape{4, 12}));
    EXPECT_EQ(layer_named(part, "h.0.mlp.act").output, (Shape{4, 16}));
    EXPECT_EQ(layer_named(part, "lm_head").output, (Shape{4, 10}));
  }
  const auto& first = *as<Linear>(layer_named(division.network(0), "h.0.mlp.c_proj"));
  const auto& second = *as<Linear>(layer_named(division.network(1), "h.0.mlp.c_proj"));
  EXPECT_TRUE(first.has_bias());
  EXPECT_FALSE(second.has_bias()) << "a sum has one bias";
}

TEST(NetworkDivision, ParametersBeginWithTheirPartOfTheWholeNetworks) {
  const Network whole = small_gpt();
  const NetworkDivision division(whole, 2, RestOfNetwork::repeated, seed);
  for (const ParameterSpec& spec : division.parameters()) {
    const std::vector<float> all = drawn_on_host(initial_fill(whole, spec, seed));
    for (int shard = 0; shard < 2; ++shard) {
      std::vector<float> want;
      for (const NetworkDivision::Run& run : division.runs(spec.name, shard)) {
        want.insert(want.end(), all.begin() + run.first, all.begin() + run.first + run.count);
      }
      const std::vector<ParameterSpec> own = division.network(shard).parameters();
      const auto found = std::ranges::find(own, spec.name, &ParameterSpec::name);
      if (found == own.end()) {
        EXPECT_TRUE(want.empty()) << spec.name;
        continue;
      }
      EXPECT_EQ(element_count(found->shape), static_cast<std::int64_t>(want.size())) << spec.name;
      EXPECT_EQ(*division.network(shard).stored_values(*found), want) << spec.name;
    }
  }
}

TEST(NetworkDivision, PositionsAreDividedBetweenProducts) {
  const Network block = transformer_block({.hidden = 8, .heads = 2, .sequence = 6});
  const NetworkDivision division(block, 2, RestOfNetwork::by_positions, seed);
  const Network& part = division.network(1);
  EXPECT_EQ(part.input, (Shape{3, 8}));
  EXPECT_EQ(part.part.index, 1);
  EXPECT_EQ(layer_named(part, "ln_1").output, (Shape{6, 8})) << "gathered";
  EXPECT_EQ(layer_named(part, "attn").output, (Shape{6, 4}));
  EXPECT_EQ(layer_named(part, "attn.c_proj").output, (Shape{3, 8})) << "scattered";
  EXPECT_EQ(layer_named(part, "residual_2").output, (Shape{3, 8}));
}

TEST(NetworkDivision, NamesWhatItCannotDivide) {
  EXPECT_EQ(obstacle_to_division(small_gpt(), 3), std::nullopt);
  EXPECT_THAT(obstacle_to_division(small_gpt(), 4).value(), HasSubstr("6 heads"));
  EXPECT_THAT(obstacle_to_division(perceptron(4, 9), 2).value(), HasSubstr("9 outputs"));
  EXPECT_THAT(obstacle_to_division(resnet(18, 32), 2).value(),
              HasSubstr("this model has no such pair"));
  EXPECT_EQ(obstacle_to_division(perceptron(3, 8), 2), std::nullopt) << "the last one stays whole";
  EXPECT_THROW(NetworkDivision(perceptron(1, 8), 2, RestOfNetwork::repeated, seed),
               std::invalid_argument);
  EXPECT_THROW(NetworkDivision(small_gpt(), 2, RestOfNetwork::by_positions, seed),
               std::invalid_argument)
      << "tokens are not divided";
}

}  // namespace
}  // namespace parbench
