// Scratch memory of streams, on every backend.
#include <gtest/gtest.h>

#include <cstddef>

#include "kernels/base/error.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

using Scratch = LaneTest;

TEST_P(Scratch, GrowsAndNeverShrinks) {
  stream().reserve_scratch(5000);
  const std::size_t first = stream().scratch_bytes();
  EXPECT_GE(first, 5000U);
  stream().reserve_scratch(100);
  EXPECT_EQ(stream().scratch_bytes(), first);
  stream().reserve_scratch(first + 1);
  EXPECT_GT(stream().scratch_bytes(), first);
}

TEST_P(Scratch, IsStillThereWhereMoreIsNotToBeHad) {
  constexpr std::size_t too_much = std::size_t{1} << 50U;
  stream().reserve_scratch(5000);
  const std::size_t held = stream().scratch_bytes();
  EXPECT_THROW(stream().reserve_scratch(too_much), OutOfMemory);
  EXPECT_EQ(stream().scratch_bytes(), held);
}

TEST_P(Scratch, OfAStreamThatOnlyPlansIsNoted) {
  constexpr std::size_t too_much = std::size_t{1} << 50U;
  const std::size_t held = stream().scratch_bytes();
  stream().plan_only();
  stream().reserve_scratch(too_much);
  EXPECT_EQ(stream().scratch_bytes(), held);
  EXPECT_EQ(stream().requested_scratch(), too_much);
  stream().provide_scratch(held + 5000);
  EXPECT_GE(stream().scratch_bytes(), held + 5000);
  EXPECT_EQ(stream().requested_scratch(), too_much);
}

INSTANTIATE_TEST_SUITE_P(Lanes, Scratch, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
