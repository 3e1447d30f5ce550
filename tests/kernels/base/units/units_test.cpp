// How times, sizes, rates and ratios are written.
#include "kernels/base/units/units.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "kernels/base/units/wide_intervals.h"

namespace parbench {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(Duration, TakesTheUnitThatItReaches) {
  EXPECT_EQ(format_duration(812e-9), "812.0 ns");
  EXPECT_EQ(format_duration(12.346e-6), "12.35 µs");
  EXPECT_EQ(format_duration(0.6341), "634.1 ms");
  EXPECT_EQ(format_duration(1.0834), "1.083 s");
  EXPECT_EQ(format_duration(4321.4), "4321 s");
}

TEST(Duration, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(format_duration(999.94e-6), "999.9 µs");
  EXPECT_EQ(format_duration(999.96e-6), "1.000 ms");
  EXPECT_EQ(format_duration(0.99996), "1.000 s");
}

TEST(Duration, OfNothingAndOfNoNumber) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(-0.0015), "-1.500 ms");
  EXPECT_EQ(format_duration(nan_value), no_number);
  EXPECT_EQ(format_duration(infinite), no_number);
}

TEST(Wait, CountsWholeSecondsMinutesHours) {
  EXPECT_EQ(format_wait(0.2), "0 s");
  EXPECT_EQ(format_wait(59.6), "1 min 00 s");
  EXPECT_EQ(format_wait(125), "2 min 05 s");
  EXPECT_EQ(format_wait(3720), "1 h 02 min");
  EXPECT_EQ(format_wait(-1), no_number);
  EXPECT_EQ(format_wait(1e300), no_number);
}

TEST(Bytes, AreBinary) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(812.0 * 1024 * 1024), "812 MiB");
  EXPECT_EQ(format_bytes(1023.99 * 1024 * 1024), "1.00 GiB");
  EXPECT_EQ(format_bytes(nan_value), no_number);
}

TEST(Bytes, OfSeveralShareTheUnitOfTheLargest) {
  EXPECT_EQ(format_bytes(std::array{1.21 * 0x1p30, 0.5 * 0x1p30, 0.0}), "1.21 + 0.50 + 0 GiB");
  EXPECT_EQ(format_bytes(std::array{12.0, 7.0}), "12 + 7 B");
  EXPECT_EQ(format_bytes(std::array<double, 0>{}), "");
}

TEST(Rate, PrefixesFlopsAndBytesButNotThings) {
  EXPECT_EQ(format_rate(141.2e9, "FLOP"), "141 GFLOP/s");
  EXPECT_EQ(format_rate(12.34e9, "B"), "12.3 GB/s");
  EXPECT_EQ(format_rate(999.7e9, "FLOP"), "1.00 TFLOP/s");
  EXPECT_EQ(format_rate(44.32, "images"), "44.3 images/s");
  EXPECT_EQ(format_rate(12345, "images"), "12300 images/s");
  EXPECT_EQ(format_rate(0.01234, "images"), "0.0123 images/s");
  EXPECT_EQ(format_rate(1.267e9, "items"), "1.27 Gitems/s");
  EXPECT_EQ(format_rate(infinite, "B"), no_number);
}

TEST(Percent, HasTheDigitsAskedFor) {
  EXPECT_EQ(format_percent(0.9543), "95.4%");
  EXPECT_EQ(format_percent(0.9543, 0), "95%");
  EXPECT_EQ(format_percent(nan_value), no_number);
}

TEST(Percent, ShowsItsIntervalWithTheSameDigits) {
  EXPECT_EQ(format_percent(0.752, 0.731, 0.768), "75% (73–77%)");
  EXPECT_EQ(format_percent(0.752, 0.7512, 0.7539), "75.2% (75.1–75.4%)");
  EXPECT_EQ(format_percent(-0.02, -0.11, 0.03), "−2% (−11 to 3%)");
  EXPECT_EQ(format_percent(-0.001, -0.002, 0.01), "−0.1% (−0.2 to 1.0%)");
  EXPECT_EQ(format_percent(0, 0, 0.01), "0% (0–1%)");
  EXPECT_EQ(format_percent(0.752, nan_value, 1), "75%");
  EXPECT_EQ(format_percent(nan_value, 0, 1), no_number);
}

TEST(Ratio, HasThreeDigits) {
  EXPECT_EQ(format_ratio(1.709), "1.71×");
  EXPECT_EQ(format_ratio(12.34), "12.3×");
  EXPECT_EQ(format_ratio(9.999), "10.0×");
  EXPECT_EQ(format_ratio(123.4), "123×");
  EXPECT_EQ(format_ratio(0.0423), "0.042×");
  EXPECT_EQ(format_ratio(nan_value), no_number);
}

TEST(Ratio, ShowsItsIntervalWithTheSameDigits) {
  EXPECT_EQ(format_ratio(1.709, 1.688, 1.731), "1.71× (1.69–1.73)");
  EXPECT_EQ(format_ratio(1.7084, 1.7071, 1.7096), "1.708× (1.707–1.710)");
  EXPECT_EQ(format_ratio(1.709, nan_value, 2), "1.71×");
}

TEST(Ratio, ShowsOnWhichSideOfOneEachEndIs) {
  EXPECT_EQ(format_ratio(1.0042, 1.0013, 1.0091), "1.004× (1.001–1.009)");
  EXPECT_EQ(format_ratio(1.0042, 1.0003, 1.0191), "1.0042× (1.0003–1.0191)");
  EXPECT_EQ(format_ratio(0.9921, 0.98, 0.99993), "0.9921× (0.9800–0.9999)");
  EXPECT_EQ(format_ratio(1.02, 1, 1.04), "1.02× (1.00–1.04)");
}

TEST(Ratio, HasTheConfidenceOfFewSamples) {
  EXPECT_EQ(format_ratio(Ratio{1.709}), "1.71×");
  EXPECT_EQ(format_ratio(Ratio{1.709, Interval{1.688, 1.731, 0.97}}), "1.71× (1.69–1.73)");
  EXPECT_EQ(format_ratio(Ratio{1.709, Interval{1.688, 1.731, 0.75}}),
            "1.71× (1.69–1.73 at 75% confidence)");
  EXPECT_EQ(format_percent(Ratio{0.752}), "75%");
  EXPECT_EQ(format_percent(Ratio{0.752, Interval{0.731, 0.768, 0.75}}),
            "75% (73–77% at 75% confidence)");
}

TEST(List, NamesThreeAndCountsTheRest) {
  EXPECT_EQ(format_list({}), "");
  EXPECT_EQ(format_list({"a"}), "a");
  EXPECT_EQ(format_list({"a", "b"}), "a and b");
  EXPECT_EQ(format_list({"a", "b", "c", "d"}), "a, b, c and d");
  EXPECT_EQ(format_list({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

TEST(Confidence, IsNamedWhereItIsLow) {
  EXPECT_EQ(with_confidence("1.71× (1.69–1.73)", {1.69, 1.73, 0.75}),
            "1.71× (1.69–1.73 at 75% confidence)");
  EXPECT_EQ(with_confidence("1.71× (1.69–1.73)", {1.69, 1.73, 0.9375}),
            "1.71× (1.69–1.73 at 93.75% confidence)");
  EXPECT_EQ(with_confidence("1.71× (1.69–1.73)", {1.69, 1.73, 0.95}), "1.71× (1.69–1.73)");
  EXPECT_EQ(with_confidence("1.71×", {nan_value, nan_value, 0.75}), "1.71×")
      << "it shows no interval";
}

TEST(Number, DropsTrailingZeros) {
  EXPECT_EQ(format_number(0.5), "0.5");
  EXPECT_EQ(format_number(12), "12");
  EXPECT_EQ(format_number(-infinite), no_number);
}

TEST(HalfWidth, IsUnknownAbove1000Percent) {
  EXPECT_EQ(half_width_text(0.0701), "± 7.0%");
  EXPECT_EQ(half_width_text(10), "± 1000.0%");
  EXPECT_EQ(half_width_text(10.01), "unknown");
  EXPECT_EQ(half_width_text(infinite), "unknown");
}

TEST(Change, IsUnknownWhereItsIntervalContainsNoneAndReachesBeyond1000Percent) {
  EXPECT_TRUE(is_unknown_change({-0.9, 10.5, 0.95}));
  EXPECT_FALSE(is_unknown_change({-0.9, 9.5, 0.95}));
  EXPECT_FALSE(is_unknown_change({0.1, 10.5, 0.95}));
}

}  // namespace
}  // namespace parbench
