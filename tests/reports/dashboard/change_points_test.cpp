// E-divisive against single histories whose steps are known.
#include "reports/dashboard/change_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "tests/reports/dashboard/noisy_series.h"

namespace parbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ChangePoints, ShortAndConstantSeriesHaveNone) {
  EXPECT_THAT(change_points({}), IsEmpty());
  EXPECT_THAT(change_points(std::vector{1.0}), IsEmpty());
  EXPECT_THAT(change_points(std::vector{1.0, 1.0, 1.0, 2.0, 2.0, 2.0}), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>(1000, 3.0)), IsEmpty());
}

TEST(ChangePoints, AreInNoSeriesThatIsShorterThanTheShortest) {
  const auto step = [](std::size_t count, std::size_t at) {
    std::vector<double> values(count, 1.0);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(at), values.end(), 1000.0);
    return values;
  };
  EXPECT_THAT(change_points(step(min_values_with_a_change, 3)), ElementsAre(3));
  const std::size_t fewer = min_values_with_a_change - 1;
  std::mt19937_64 generator(1);
  for (std::size_t at = 3; at + 3 <= fewer; ++at) {
    std::vector<double> values = step(fewer, at);
    EXPECT_THAT(change_points(values), IsEmpty()) << at;
    for (int history = 0; history < 50; ++history) {
      for (double& value : values) value += static_cast<double>(generator() % 1000) / 1000;
      EXPECT_THAT(change_points(values), IsEmpty()) << at;
    }
  }
}

TEST(ChangePoints, FindsAStepWithoutNoise) {
  std::vector<double> values(60, 1.0);
  std::fill(values.begin() + 25, values.end(), 1.05);
  EXPECT_THAT(change_points(values), ElementsAre(25));
}

TEST(ChangePoints, FindsANewLevelFromItsThirdReportOn) {
  const auto level = [](std::size_t at) { return at < 27 ? 0 : 0.05; };
  EXPECT_THAT(change_points(series(29, level, 3)), IsEmpty());
  EXPECT_THAT(change_points(series(30, level, 3)), ElementsAre(27));
}

TEST(ChangePoints, DoesNotDependOnTheUnit) {
  const auto level = [](std::size_t at) { return at < 30 ? 0 : 0.03; };
  std::vector<double> values = series(70, level, 9);
  const auto found = change_points(values);
  for (double& value : values) value = 1000 * value + 7;
  EXPECT_EQ(change_points(values), found);
  EXPECT_THAT(found, SizeIs(1));
}

TEST(ChangePoints, LongSeriesAreSearchedInWindowsThatOwnTheirMiddle) {
  const auto level = [](std::size_t at) { return 0.05 * static_cast<double>(at / 137 % 2); };
  const auto found = change_points(series(1500, level, 2));
  ASSERT_THAT(found, SizeIs(1499 / 137));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(is_near(found[i], 137 * (i + 1))) << found[i];
  }
}

TEST(ChangePoints, StepsNearBothEndsAreFoundWhateverTheLength) {
  const std::size_t window = ChangePointParameters{}.window;
  for (const std::size_t count : {window - 1, window, window + 1, window + window / 2 - 1,
                                  window + window / 2, window + window / 2 + 1, 2 * window}) {
    std::vector<double> values(count, 1.0);
    std::fill(values.begin() + 10, values.end(), 2.0);
    std::fill(values.end() - 10, values.end(), 3.0);
    EXPECT_THAT(change_points(values), ElementsAre(10, count - 10)) << count;
  }
}

/// Another order of permutations would decide differently where p is near the limit.
TEST(ChangePoints, AreTheSameOnEveryMachine) {
  std::mt19937_64 generator(12);  // its numbers are fixed by the standard
  int called = 0;
  std::size_t sum_of_indices = 0;
  for (int history = 0; history < 400; ++history) {
    std::vector<double> values;
    for (int i = 0; i < 24; ++i) {
      values.push_back(static_cast<double>(generator() >> 11U) * 0x1p-53 + (i < 12 ? 0 : 0.4));
    }
    const std::vector<std::size_t> indices = change_points(values);
    called += indices.empty() ? 0 : 1;
    sum_of_indices = std::accumulate(indices.begin(), indices.end(), sum_of_indices);
  }
  EXPECT_EQ(called, 108);
  EXPECT_EQ(sum_of_indices, 1382U);
}

TEST(ChangePoints, AStricterTestFindsLess) {
  const auto level = [](std::size_t at) { return at < 17 ? 0 : 0.05; };
  const std::vector<double> values = series(20, level, 6);
  EXPECT_THAT(change_points(values), SizeIs(1));
  EXPECT_THAT(change_points(values, {.significance = 0.0001, .permutations = 99}), IsEmpty());
}

}  // namespace
}  // namespace parbench::report
