// Models that ship with the sizes of the published ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/models/models.h"
#include "scenarios/models/shipped/experts.h"

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

TEST(Mixtral, HasPublishedParameters) {
  EXPECT_EQ(parameters_of(network_named("mixtral-8x7b")), 46'702'792'704);
}

TEST(Mixtral, GivesEachExpertAsManyTokensAndEachTokenTwoExperts) {
  for (const auto& [sequence, experts] :
       {std::pair{12, 8}, std::pair{3, 2}, std::pair{64, 8}, std::pair{100, 5}}) {
    const ExpertSizes sizes{.sequence = sequence, .experts = experts};
    const Routes routes = balanced_routes(sizes, 1);
    ASSERT_EQ(routes.size(), static_cast<std::size_t>(sequence));
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(experts));
    for (const auto& [first, second] : routes) {
      EXPECT_NE(first, second);
      ++tokens.at(static_cast<std::size_t>(first));
      ++tokens.at(static_cast<std::size_t>(second));
    }
    EXPECT_THAT(tokens, testing::Each(sizes.capacity())) << experts << " experts";
    EXPECT_EQ(routes, balanced_routes(sizes, 1));
  }
  const ExpertSizes sizes{.sequence = 64, .experts = 8};
  EXPECT_NE(balanced_routes(sizes, 0), balanced_routes(sizes, 1));
}

TEST(Mixtral, RefusesExpertsThatCannotShareTheTokens) {
  EXPECT_THAT([] { (void)llama({.sequence = 32, .experts = 6}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("--experts 6 cannot share 32 tokens equally, each of which takes two; "
                            "choose 2, or another --sequence")));
  EXPECT_THROW((void)llama({.experts = 1}), std::invalid_argument);
}

TEST(Vit, HasTorchvisionsParameters) {
  const Network network = network_named("vit-base");
  EXPECT_EQ(parameters_of(network), 86'567'656);
  EXPECT_EQ(network.units.size(), 14U);
  EXPECT_EQ(network.layer(1).output, (Shape{197, 768}));
  EXPECT_EQ(parameters_of(network_named("vit", {{"image", 224}})), 5'717'416) << "DeiT-Ti's";
}

TEST(Vit, WantsWholePatches) {
  EXPECT_THAT([] { (void)vit({.image = 100}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("--image 100 is not a multiple of the patches' size, 16")));
  EXPECT_THROW((void)vit({.heads = 5}), std::invalid_argument);
}

TEST(ConvNext, HasTorchvisionsParameters) {
  const Network network = network_named("convnext");
  EXPECT_EQ(parameters_of(network), 28'589'128) << "ConvNeXt-T";
  EXPECT_EQ(network.units.size(), 20U);
  EXPECT_EQ(parameters_of(network_named("convnext", {{"layers", 27}})), 50'223'688) << "S";
  EXPECT_EQ(parameters_of(network_named("convnext", {{"layers", 27}, {"hidden", 128}})), 88'591'464)
      << "B";
  EXPECT_THROW((void)convnext({.image = 31}), std::invalid_argument);
}

TEST(MobileNetV3, HasTorchvisionsParameters) {
  const Network large = network_named("mobilenetv3");
  EXPECT_EQ(parameters_of(large), 5'483'032);
  EXPECT_EQ(large.units.size(), 17U);
  EXPECT_EQ(parameters_of(network_named("mobilenetv3-small")), 2'542'856);
}

TEST(Bert, HasPublishedParameters) {
  std::int64_t encoder = 0;
  for (const ParameterSpec& one : network_named("bert-base").parameters()) {
    const bool in_head = one.name.starts_with("transform.") || one.name.starts_with("decoder.");
    if (!in_head) encoder += element_count(one.shape);
  }
  constexpr std::int64_t pooler = 768 * 768 + 768;
  EXPECT_EQ(encoder, 109'482'240 - pooler);
  constexpr std::int64_t bias = 30522;  // of the head
  EXPECT_EQ(parameters_of(make_network(with_tied_head(model_named("bert-base")), {})),
            109'514'298 - bias);
}

}  // namespace
}  // namespace parbench
