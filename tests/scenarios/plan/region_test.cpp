// The planner of memory regions.
#include "scenarios/plan/region.h"

#include <gtest/gtest.h>

namespace parbench {
namespace {

TEST(RegionPlanner, LiveRegionsNeverOverlapAndHolesAreUsedAgain) {
  RegionPlanner planner;
  const std::size_t a = planner.acquire(100);
  const std::size_t b = planner.acquire(200);
  const std::size_t c = planner.acquire(64);
  EXPECT_GE(b, a + 100);
  EXPECT_GE(c, b + 200);
  const std::size_t full = planner.peak();
  planner.release(a);
  planner.release(b);  // one hole of both
  EXPECT_EQ(planner.acquire(300), a);
  EXPECT_EQ(planner.peak(), full);
  planner.release(c);
  // The hole at the end, joined with the rest of the first, grows.
  EXPECT_LE(planner.acquire(1000), c);
  EXPECT_LT(planner.peak(), c + 1088);
  EXPECT_THROW(planner.release(7), std::logic_error);
}

TEST(RegionPlanner, AHoleIsGivenWithoutGrowing) {
  RegionPlanner planner;
  const std::size_t first = planner.acquire(128);
  const std::size_t second = planner.acquire(64);
  EXPECT_EQ(planner.acquire_hole(1), std::nullopt);
  EXPECT_EQ(planner.end(), 192U);
  planner.release(first);
  EXPECT_EQ(planner.acquire_hole(129), std::nullopt);
  EXPECT_EQ(planner.acquire_hole(100), first);
  planner.release(second);
  EXPECT_EQ(planner.end(), 128U);
  planner.release(first);
  EXPECT_EQ(planner.end(), 0U);
  EXPECT_EQ(planner.peak(), 192U);
}

}  // namespace
}  // namespace parbench
