// The division of a session's time.
#include "bench/sampling/budget.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bench/sampling/cost_rounds.h"

namespace parbench {
namespace {

TEST(Budget, CountsWarmUpAsSampling) {
  const Budget budget = budget_of({.left = 100, .warm_up = 7, .floor = 200});
  EXPECT_DOUBLE_EQ(budget.total_seconds, 107) << "without a profiling pass nothing is put aside";
  EXPECT_EQ(budget.margin_seconds, 0);
  EXPECT_EQ(budget.other_share, cost_share);
}

TEST(Budget, PutsMoreAsideForProfilingThanItIsExpectedToTake) {
  const Budget budget = budget_of({.left = 100, .warm_up = 7, .floor = 84, .profiling = 8});
  EXPECT_TRUE(budget.leaves_profiling);
  EXPECT_DOUBLE_EQ(budget.total_seconds, 107 - 16) << "1.5 * 8 s and 4% of 100 s";
  EXPECT_DOUBLE_EQ(budget.margin_seconds, 8) << "which the fewest samples may use";
}

TEST(Budget, PrefersTheFewestSamplesToProfiling) {
  const Budget budget = budget_of({.left = 100, .warm_up = 7, .floor = 84.5, .profiling = 8});
  EXPECT_FALSE(budget.leaves_profiling);
  EXPECT_DOUBLE_EQ(budget.total_seconds, 107);
  EXPECT_EQ(budget.margin_seconds, 0);
}

TEST(Budget, IsUnlimitedWhereTheSessionIs) {
  const Budget budget = budget_of({.warm_up = 7, .floor = 84, .profiling = 8});
  EXPECT_TRUE(budget.leaves_profiling);
  EXPECT_TRUE(std::isinf(budget.total_seconds));
  EXPECT_DOUBLE_EQ(budget.margin_seconds, 4);
}

}  // namespace
}  // namespace parbench
