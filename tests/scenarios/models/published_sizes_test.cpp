// Models that ship with the sizes of the published ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/models/models.h"

namespace parbench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::int64_t parameters_of(const Network& network) {
  std::int64_t sum = 0;
  for (const ParameterSpec& one : network.parameters()) sum += element_count(one.shape);
  return sum;
}

Network network_named(const std::string& name, const ModelSizes& sizes = {}) {
  return make_network(model_named(name), sizes);
}

TEST(Llama, HasPublishedSizes) {
  const Network large = network_named("llama3-8b");
  EXPECT_EQ(parameters_of(large), 8'030'261'248);
  EXPECT_EQ(large.units.size(), 34U);
  EXPECT_EQ(large.layers.back().output, (Shape{8192, 128256}));
  EXPECT_EQ(parameters_of(network_named("llama-160m")), 162'417'408);
}

TEST(Llama, SharesHeadsOfKeysAndValues) {
  const auto projections = [](std::int64_t kv_heads) {
    const Network network = llama({.layers = 1, .hidden = 24, .heads = 6, .kv_heads = kv_heads});
    return network.layer(2).output.back();
  };
  EXPECT_EQ(projections(6), 3 * 24);
  EXPECT_EQ(projections(2), (6 + 2 * 2) * 4);
  EXPECT_EQ(projections(1), (6 + 2) * 4);
}

TEST(Llama, RefusesHeadsThatDoNotDivide) {
  EXPECT_THAT([] { (void)llama({.hidden = 250}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("--heads 4 does not divide")));
  EXPECT_THAT([] { (void)llama({.heads = 4, .kv_heads = 3}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("--kv-heads 3 does not divide --heads 4; choose 1")));
  EXPECT_THAT([] { (void)llama({.hidden = 12, .heads = 4}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("heads of 3 features have no pairs")));
}

TEST(Llama, HasTheEmbeddingsTableInATiedHead) {
  const Model tied = with_tied_head(model_named("llama-160m"));
  EXPECT_EQ(parameters_of(make_network(tied, {})), 162'417'408 - 32000 * 768);
}

}  // namespace
}  // namespace parbench
