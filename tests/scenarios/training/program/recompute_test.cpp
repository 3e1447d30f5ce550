// What a stage keeps and runs again with activation checkpointing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/machine/machine.h"
#include "scenarios/framework/context.h"
#include "scenarios/models/models.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {
namespace {

constexpr std::int64_t recomputed_samples = 2;
constexpr TransformerSizes sizes{
    .layers = 3, .hidden = 32, .heads = 2, .sequence = 8, .vocabulary = 16};

struct Recompute : testing::Test {
  [[nodiscard]] std::unique_ptr<StageProgram> program(bool recompute) {
    const StageRange range{.network = &network,
                           .first = 0,
                           .last = static_cast<int>(network.layers.size()) - 1,
                           .batch = recomputed_samples,
                           .recompute = recompute};
    stores.push_back(std::make_unique<ParameterStore>(stream));
    StageProgram::add_parameters(stream, range, recomputed_samples, *stores.back());
    return std::make_unique<StageProgram>(stream, range, recomputed_samples, *stores.back());
  }

  Network network = gpt(sizes);
  Context context{Machine().open("cpu:0"), Context::Options{}};
  Stream& stream = context.stream(0, StreamKind::compute);
  std::vector<std::unique_ptr<ParameterStore>> stores;
};

std::vector<std::string> layers_of(const std::vector<SymbolicCall>& calls) {
  std::vector<std::string> names;
  for (const SymbolicCall& call : calls) names.push_back(call.layer);
  return names;
}

std::ptrdiff_t count(const std::vector<SymbolicCall>& calls, const std::string& layer) {
  return std::ranges::count(calls, layer, &SymbolicCall::layer);
}

TEST_F(Recompute, KeepsOnlyWhatCrossesUnitsAndBothSidesOfTheLastLayer) {
  constexpr std::size_t rows = recomputed_samples * sizes.sequence * sizeof(float);
  // The outputs of the embedding, of each block and of the last normalisation; the logits.
  constexpr std::size_t want = rows * ((1 + sizes.layers + 1) * sizes.hidden + sizes.vocabulary);
  EXPECT_EQ(program(true)->activation_bytes(), want);
  EXPECT_GT(program(false)->activation_bytes(), 4 * want);
}

TEST_F(Recompute, MemoryOfOneUnitIsUsedForAll) {
  const std::size_t three = program(true)->transient_bytes();
  network = gpt({.layers = 6,
                 .hidden = sizes.hidden,
                 .heads = sizes.heads,
                 .sequence = sizes.sequence,
                 .vocabulary = sizes.vocabulary});
  EXPECT_EQ(program(true)->transient_bytes(), three);
}

TEST_F(Recompute, AUnitRunsAgainAheadOfItsBackwardPass) {
  const auto plain = program(false);
  const auto again = program(true);
  EXPECT_EQ(layers_of(again->forward().calls), layers_of(plain->forward().calls));
  const std::vector<std::string> names = layers_of(again->backward(false).calls);
  const auto index_of = [&](const std::string& layer) {
    return std::ranges::find(names, layer) - names.begin();
  };
  EXPECT_LT(index_of("h.2.ln_1"), index_of("h.2.mlp.c_proj")) << "it has run before the gradients";
  EXPECT_LT(index_of("h.2.ln_1"), index_of("h.1.ln_1"));
  EXPECT_LT(index_of("h.1.ln_1"), index_of("h.0.ln_1"));
}

TEST_F(Recompute, WhatNothingReadsIsLeftOut) {
  const auto plain = program(false);
  const auto again = program(true);
  const auto more = [&](const std::string& layer) {
    return count(again->backward(true).calls, layer) - count(plain->backward(true).calls, layer);
  };
  EXPECT_EQ(more("h.1.mlp.c_fc"), 1);
  EXPECT_EQ(more("h.1.mlp.c_proj"), 0) << "only the sum behind it reads it, which is kept";
  EXPECT_EQ(more("h.1.residual_2"), 0) << "it is kept";
  EXPECT_EQ(more("h.1.residual_1"), 1) << "the normalisation behind it reads it";
  EXPECT_EQ(more("wte"), 0);
  EXPECT_EQ(more("lm_head"), 0);
}

}  // namespace
}  // namespace parbench
