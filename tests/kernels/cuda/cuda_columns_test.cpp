// How batch normalisation on CUDA divides channels and the bits of its mask.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "kernels/cuda/device_code/batch_norm/batch_norm_columns.h"

namespace parbench::cuda {
namespace {

constexpr std::int64_t elements = 96;

class Columns : public testing::TestWithParam<bool> {};

TEST_P(Columns, GroupsHaveEveryElementOnce) {
  const bool paired = GetParam();
  std::set<std::int64_t> seen;
  for (std::int64_t group = 0; group < elements / vector_width; ++group) {
    for (int i = 0; i < vector_width; ++i) {
      seen.insert(first_of_group(group, paired) + offset_in_group(i, paired));
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(elements));
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), elements - 1);
}

TEST_P(Columns, AGroupHasAByteOfTheMaskInItsOrder) {
  const bool paired = GetParam();
  for (std::int64_t group = 0; group < elements / vector_width; ++group) {
    for (int i = 0; i < vector_width; ++i) {
      const std::int64_t element = first_of_group(group, paired) + offset_in_group(i, paired);
      EXPECT_EQ(mask_bit(element, paired), (MaskBit{group, i})) << element;
    }
  }
}

TEST_P(Columns, FourNeighboursAreLoadedAtOnceFromAnAlignedAddress) {
  const bool paired = GetParam();
  for (std::int64_t group = 0; group < elements / vector_width; ++group) {
    EXPECT_EQ(first_of_group(group, paired) % 4, 0);
    for (const int i : {1, 2, 3, 5, 6, 7}) {
      EXPECT_EQ(offset_in_group(i, paired), offset_in_group(i - i % 4, paired) + i % 4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Order, Columns, testing::Bool(),
                         [](const auto& order) { return order.param ? "paired" : "in_turn"; });

TEST(PairedColumns, FillASectorWithEachLoadOfTwoThreads) {
  constexpr int sector = 8;  // floats
  for (std::int64_t group = 0; group < elements / vector_width; group += 2) {
    const std::int64_t first = first_of_group(group, true);
    EXPECT_EQ(first % sector, 0);
    EXPECT_EQ(first_of_group(group + 1, true), first + sector / 2);
    EXPECT_EQ(offset_in_group(4, true), sector) << "the second load has a sector of its own";
  }
}

TEST(PairedColumns, AreThoseOfFloatsInMultiplesOfSixteenChannels) {
  EXPECT_TRUE(pairs<float>(64));
  EXPECT_FALSE(pairs<float>(24));
  EXPECT_FALSE(pairs<std::uint16_t>(64));
}

}  // namespace
}  // namespace parbench::cuda
