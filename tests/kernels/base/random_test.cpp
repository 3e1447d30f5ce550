// The counter-based generator: published vectors, distributions, independence of division.
#include "kernels/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace parbench {
namespace {

constexpr std::uint32_t ones = 0xFFFFFFFFU;

// Known-answer vectors published with the paper's own implementation.
TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0),
            (RandomWords{0x6627E8D5U, 0xE169C58DU, 0xBC57AC4CU, 0x9B00DBD8U}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, ~std::uint64_t{0}),
            (RandomWords{0x408F276DU, 0x41C83B0EU, 0xA20BC7C6U, 0x6D5451FDU}));
  // Digits of π as counter and key.
  EXPECT_EQ(philox({0x243F6A88U, 0x85A308D3U, 0x13198A2EU, 0x03707344U}, 0x299F31D0A4093822U),
            (RandomWords{0xD16CFE09U, 0x94FDCCEBU, 0x5001E420U, 0x24126EA1U}));
}

std::vector<float> uniform(std::size_t count, RandomStream stream, float low, float high) {
  std::vector<float> values(count);
  generate_uniform(values, 0, stream, low, high);
  return values;
}

TEST(Random, ValueDependsOnIndexOnly) {
  const std::vector<float> whole = uniform(1003, {5, 6}, -1, 1);
  std::vector<float> part(37);
  generate_uniform(part, 400, {5, 6}, -1, 1);
  for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], whole[400 + i]) << i;

  std::vector<float> normal(1003);
  generate_normal(normal, 0, {5, 6}, 0, 1);
  generate_normal(part, 400, {5, 6}, 0, 1);
  for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], normal[400 + i]) << i;
}

TEST(Random, IndexBeyond32BitsIsDistinct) {
  std::vector<float> low(8);
  std::vector<float> high(8);
  generate_uniform(low, 0, {1, 0}, 0, 1);
  generate_uniform(high, std::uint64_t{1} << 40U, {1, 0}, 0, 1);
  EXPECT_NE(low, high);
}

TEST(Random, SeedsAndSubsequencesDiffer) {
  EXPECT_NE(uniform(64, {1, 0}, 0, 1), uniform(64, {2, 0}, 0, 1));
  EXPECT_NE(uniform(64, {1, 0}, 0, 1), uniform(64, {1, 1}, 0, 1));
  EXPECT_NE(uniform(64, {1, 0}, 0, 1), uniform(64, {0, 1}, 0, 1));
}

TEST(Random, UniformStaysInItsRange) {
  for (const float value : uniform(100000, {9, 9}, -3, 2)) {
    ASSERT_GE(value, -3.0F);
    ASSERT_LT(value, 2.0F);
  }
  // Rounding would reach the end of a range whose values are as coarse as this.
  const UniformRange coarse = uniform_range(16777215.0F, 16777216.0F);
  EXPECT_LT(uniform_value(ones, coarse), 16777216.0F);
  EXPECT_EQ(uniform(5, {1, 1}, 4, 4), std::vector<float>(5, 4.0F));
}

TEST(Random, UniformHasItsMoments) {
  const std::vector<float> values = uniform(400000, {3, 1}, -1, 1);
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += double{value};
    squares += double{value} * double{value};
  }
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 0.005);
  EXPECT_NEAR(squares / count, 1.0 / 3, 0.003);
}

TEST(Random, NormalHasItsMoments) {
  std::vector<float> values(400001);
  generate_normal(values, 0, {3, 2}, 2, 0.5F);
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  for (const float value : values) {
    ASSERT_TRUE(std::isfinite(value));
    const double z = (double{value} - 2) / 0.5;
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
  }
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(fourth / count, 3, 0.1);
}

TEST(Random, ExtremeWordsGiveFiniteNormals) {
  for (const std::uint32_t a : {0U, 1U, ones - 1, ones}) {
    for (const std::uint32_t b : {0U, 0x20000000U, 0x40000000U, 0x80000000U, 0xC0000000U, ones}) {
      const NormalPair pair = normal_pair(a, b);
      EXPECT_TRUE(std::isfinite(pair.even) && std::isfinite(pair.odd)) << a << " " << b;
    }
  }
  EXPECT_NEAR(double{natural_logarithm(0x1p-33F)}, -33 * std::log(2.0), 1e-5);
  EXPECT_EQ(natural_logarithm(1.0F), 0.0F);
}

TEST(Random, DirectionsLieOnTheCircle) {
  for (std::uint64_t turn = 0; turn < (std::uint64_t{1} << 32U); turn += 0x00FEDCB9U) {
    const double angle = 2 * M_PI * static_cast<double>(turn) * 0x1p-32;
    const Direction towards = direction(static_cast<std::uint32_t>(turn));
    ASSERT_NEAR(double{towards.cosine}, std::cos(angle), 2e-7) << turn;
    ASSERT_NEAR(double{towards.sine}, std::sin(angle), 2e-7) << turn;
  }
}

}  // namespace
}  // namespace parbench
