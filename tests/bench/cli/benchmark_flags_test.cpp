// Google Benchmark's flags: what is taken, what is refused, and that refusing never ends the
// process.
#include "bench/cli/benchmark_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/base/error.h"

namespace parbench {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& flag) {
  try {
    (void)initialize_google_benchmark({flag});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BenchmarkFlags, NoneIsEveryCase) {
  const BenchmarkFlags flags = initialize_google_benchmark({});
  EXPECT_FALSE(flags.list_tests);
  EXPECT_FALSE(flags.repetitions.has_value());
  EXPECT_TRUE(flags.out_path.empty());
  EXPECT_TRUE(selects(flags, "any/case"));
}

TEST(BenchmarkFlags, OursAreRead) {
  const BenchmarkFlags flags = initialize_google_benchmark(
      {"--benchmark_list_tests", "--benchmark_repetitions=12", "--benchmark_min_time=0.25",
       "--benchmark_out=rows.csv", "--benchmark_out_format=csv", "--benchmark_format=json",
       "--benchmark_report_aggregates_only=true"});
  EXPECT_TRUE(flags.list_tests);
  EXPECT_EQ(flags.repetitions, 12);
  EXPECT_EQ(flags.min_time_seconds, 0.25);
  EXPECT_EQ(flags.out_path, "rows.csv");
  EXPECT_EQ(flags.out_format, RowFormat::csv);
  EXPECT_EQ(flags.display_format, RowFormat::json);
  EXPECT_TRUE(flags.aggregates_only);
  EXPECT_FALSE(flags.display_aggregates_only);
}

TEST(BenchmarkFlags, DisplayIsReadApartFromFiles) {
  const BenchmarkFlags flags =
      initialize_google_benchmark({"--benchmark_display_aggregates_only=true",
                                   "--benchmark_color=true", "--benchmark_counters_tabular"});
  EXPECT_FALSE(flags.aggregates_only);
  EXPECT_TRUE(flags.display_aggregates_only);
  EXPECT_EQ(flags.color, true);
  EXPECT_TRUE(flags.counters_tabular);
  EXPECT_EQ(initialize_google_benchmark({"--benchmark_color=auto"}).color, std::nullopt);
}

TEST(BenchmarkFlags, TheirsAreAccepted) {
  EXPECT_NO_THROW((void)initialize_google_benchmark(
      {"--benchmark_context=run=7,who=me", "--benchmark_time_unit=ms"}));
  EXPECT_NO_THROW((void)initialize_google_benchmark({}));
}

TEST(BenchmarkFlags, AnUnknownOneIsRefusedByName) {
  const std::string message = refusal("--benchmark_fliter=x");
  EXPECT_THAT(message, HasSubstr("--benchmark_fliter=x"));
  EXPECT_THAT(message, HasSubstr("--benchmark_filter"));
}

TEST(BenchmarkFlags, ValuesThatCannotBeReadAreRefused) {
  for (const char* flag : {"--benchmark_repetitions=0",
                           "--benchmark_repetitions=-3",
                           "--benchmark_repetitions=2.5",
                           "--benchmark_repetitions=",
                           "--benchmark_repetitions",
                           "--benchmark_repetitions=1e3",
                           "--benchmark_repetitions=99999999999999999999",
                           "--benchmark_min_time=abc",
                           "--benchmark_min_time=nan",
                           "--benchmark_min_time=inf",
                           "--benchmark_min_time=-1",
                           "--benchmark_min_time=5x",
                           "--benchmark_out=",
                           "--benchmark_out",
                           "--benchmark_format=xml",
                           "--benchmark_out_format=",
                           "--benchmark_time_unit=h",
                           "--benchmark_time_unit",
                           "--benchmark_list_tests=maybe",
                           "--benchmark_color=maybe",
                           "--benchmark_filter",
                           "--benchmark_filter=(",
                           "--benchmark_filter=-(",
                           "--benchmark_context=novalue",
                           "--benchmark_context=k=\xff"}) {
    EXPECT_THAT(refusal(flag), HasSubstr(std::string(flag).substr(0, 20))) << flag;
  }
}

TEST(BenchmarkFlags, WhatContradictsTheHarnessIsRefusedWithTheReason) {
  EXPECT_THAT(refusal("--benchmark_min_warmup_time=1"), HasSubstr("warmed up"));
  EXPECT_THAT(refusal("--benchmark_enable_random_interleaving=true"), HasSubstr("interleaved"));
}

TEST(BenchmarkFilter, IsSearchedForInTheName) {
  const auto flags = initialize_google_benchmark({"--benchmark_filter=split:(3|12)/"});
  EXPECT_TRUE(selects(flags, "pipeline/pipeline/split:12/devices:2"));
  EXPECT_TRUE(selects(flags, "pipeline/pipeline/split:3/devices:2"));
  EXPECT_FALSE(selects(flags, "pipeline/pipeline/split:5/devices:2"));
  EXPECT_FALSE(selects(flags, "pipeline/pipeline/split:30/devices:2"));
}

TEST(BenchmarkFilter, MinusNegatesAndAllIsAll) {
  const auto negated = initialize_google_benchmark({"--benchmark_filter=-/single/"});
  EXPECT_FALSE(selects(negated, "pipeline/single/batch:48"));
  EXPECT_TRUE(selects(negated, "pipeline/pipeline/batch:48"));
  EXPECT_TRUE(selects(initialize_google_benchmark({"--benchmark_filter=all"}), "x"));
}

}  // namespace
}  // namespace parbench
