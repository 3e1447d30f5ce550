// The naive checks accept what is right and find what is wrong.
#include "scenarios/framework/checks/spot_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace parbench::test {
namespace {

TEST(SpotPositions, HoldAllCornersAndNoRepeats) {
  const auto positions = spot_positions({2, 5, 7}, 30);
  EXPECT_THAT(positions, testing::IsSupersetOf({Shape{0, 0, 0}, Shape{1, 4, 6}, Shape{0, 4, 6},
                                                Shape{1, 0, 6}, Shape{1, 4, 0}}));
  EXPECT_EQ(std::ranges::adjacent_find(positions), positions.end());
  for (const Shape& position : positions) {
    EXPECT_LT(position[0], 2);
    EXPECT_LT(position[1], 5);
    EXPECT_LT(position[2], 7);
  }
}

TEST(SpotPositions, OfASingleElementAreOne) {
  EXPECT_EQ(spot_positions({1, 1}, 5), (std::vector<Shape>{{0, 0}}));
}

TEST(Agrees, AllowsRoundingOnly) {
  Expected want;
  want.add(2.0, 3.0);
  want.add(-1.0, 5.0);
  EXPECT_DOUBLE_EQ(want.value, 1.0);
  EXPECT_DOUBLE_EQ(want.magnitude, 11.0);
  EXPECT_TRUE(agrees(1.0001F, want, {DType::f32}));
  EXPECT_FALSE(agrees(1.001F, want, {DType::f32}));
  EXPECT_TRUE(agrees(1.003F, want, {DType::bf16}));
  EXPECT_FALSE(agrees(1.02F, want, {DType::bf16}));
  EXPECT_FALSE(agrees(std::numeric_limits<float>::quiet_NaN(), want, {DType::bf16}));
}

TEST(Agrees, AllowsTf32WhatCuttingBothFactorsLoses) {
  Expected want;
  want.add(2.0, 3.0);
  want.add(-1.0, 5.0);
  const double max = 11.0 * 2 * 0x1p-10;
  EXPECT_TRUE(agrees(static_cast<float>(1 + max), want, {DType::f32, MathMode::tf32}));
  EXPECT_FALSE(agrees(static_cast<float>(1 + 1.1 * max), want, {DType::f32, MathMode::tf32}));
}

// One channel, 3×3, padding 1: an image of ones sums the weights that lie inside.
struct ConvolutionProbeTest : testing::Test {
  std::vector<float> source = std::vector<float>(9, 1.0F);
  std::vector<float> weights = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<float> bias = {0.5F};
  std::vector<float> result = {28.5F, 39.5F, 24.5F, 33.5F, 45.5F, 27.5F, 12.5F, 21.5F, 16.5F};
  ConvolutionProbe probe() {
    ConvolutionProbe probe;
    probe.shape.height = 3;
    probe.shape.width = 3;
    probe.shape.kernel = 3;
    probe.shape.padding = 1;
    probe.source = source;
    probe.weights = weights;
    probe.bias = bias;
    probe.result = result;
    return probe;
  }
};

TEST_F(ConvolutionProbeTest, KnowsBordersAndCentre) {
  EXPECT_DOUBLE_EQ(expected_at(probe(), {0, 1, 1}).value, 45.5);
  EXPECT_DOUBLE_EQ(expected_at(probe(), {0, 0, 0}).value, 5 + 6 + 8 + 9 + 0.5);
  EXPECT_DOUBLE_EQ(expected_at(probe(), {0, 2, 2}).value, 1 + 2 + 4 + 5 + 0.5);
}

TEST_F(ConvolutionProbeTest, KnowsDilation) {
  ConvolutionProbe dilated = probe();
  dilated.shape.padding = 2;
  dilated.shape.dilation = 2;
  EXPECT_DOUBLE_EQ(expected_at(dilated, {0, 1, 1}).value, 5 + 0.5);
  EXPECT_DOUBLE_EQ(expected_at(dilated, {0, 0, 0}).value, 5 + 6 + 8 + 9 + 0.5);
}

TEST_F(ConvolutionProbeTest, ExpectsZeroWhereTheReluClamps) {
  bias = {-30.0F};
  result = {0.0F, 9.0F, 0.0F, 3.0F, 15.0F, 0.0F, 0.0F, 0.0F, 0.0F};
  EXPECT_NE(spot_check(probe(), {DType::f32}, 200), std::nullopt);
  ConvolutionProbe clamped = probe();
  clamped.relu = true;
  EXPECT_EQ(spot_check(clamped, {DType::f32}, 200), std::nullopt);
}

TEST_F(ConvolutionProbeTest, FindsOneWrongValue) {
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t y = static_cast<std::int64_t>(i) / 3;
    const std::int64_t x = static_cast<std::int64_t>(i) % 3;
    result[i] = static_cast<float>(expected_at(probe(), {0, y, x}).value);
  }
  EXPECT_EQ(spot_check(probe(), {DType::f32}, 200), std::nullopt);
  result[5] += 0.01F;
  const auto wrong = spot_check(probe(), {DType::f32}, 200);
  ASSERT_TRUE(wrong);
  EXPECT_THAT(*wrong, testing::HasSubstr("row 1, column 2"));
}

TEST(ProductProbe, FindsOneWrongValue) {
  const std::vector<float> a = {1, 2, 3, 4};
  const std::vector<float> b = {5, 6, 7, 8};
  std::vector<float> c = {19, 22, 43, 50};
  ProductProbe probe{.columns = 2, .inner = 2, .a_rows = a, .b = b, .c_rows = c};
  EXPECT_EQ(spot_check(probe, {DType::f32}, 4), std::nullopt);
  c[2] = 43.1F;
  EXPECT_TRUE(spot_check(probe, {DType::f32}, 4));
}

}  // namespace
}  // namespace parbench::test
