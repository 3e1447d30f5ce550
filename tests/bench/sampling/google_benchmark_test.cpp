// Samples under Google Benchmark, and the rows that its reporters write of them.
#include "bench/sampling/google_benchmark.h"
#include "bench/run/benchmark_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"

namespace parbench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::function<Timing()> taking(double seconds) {
  return [seconds] { return Timing{seconds, 2 * seconds}; };
}

/// A measured case with a sample of each time.
report::CaseResult measured(std::string name, const std::vector<double>& seconds,
                            std::string unit = {}, double amount = 0) {
  report::CaseResult c;
  c.name = std::move(name);
  c.amount = amount;
  c.amount_unit = std::move(unit);
  for (const double one : seconds) {
    c.samples.push_back({.seconds = one, .iterations = 2, .cpu_seconds = 3 * one});
  }
  return c;
}

nlohmann::json rows_of(const std::vector<report::CaseResult>& cases, const RowStyle& style = {}) {
  std::stringstream text;
  write_rows(text, cases, RowFormat::json, style);
  return nlohmann::json::parse(text).at("benchmarks");
}

TEST(GoogleBenchmark, ASampleIsTheMeanOfItsIterations) {
  int executions = 0;
  const report::Sample sample = sample_with_google_benchmark(5, 3, [&] {
    ++executions;
    return Timing{executions * 1e-3, 1.0};
  });
  EXPECT_EQ(executions, 5);
  EXPECT_NEAR(sample.seconds, 3e-3, 1e-15);
  EXPECT_DOUBLE_EQ(sample.wall_seconds, 1.0);
  EXPECT_EQ(sample.iterations, 5);
  EXPECT_EQ(sample.round, 3);
  EXPECT_TRUE(sample.counters.empty());
}

TEST(GoogleBenchmark, ASampleHasTheCpuTimeOfOneIteration) {
  const auto spin = [] {
    const std::clock_t begin = std::clock();
    while (std::clock() - begin < CLOCKS_PER_SEC / 50) {
    }
    return Timing{1e-3, 1e-3};
  };
  const report::Sample sample = sample_with_google_benchmark(2, 0, spin);
  EXPECT_GE(sample.cpu_seconds, 0.019);
  EXPECT_LT(sample.cpu_seconds, 0.039) << "less than both iterations together";
}

TEST(GoogleBenchmark, EverySampleIsARowWithItsRepetition) {
  const auto rows =
      rows_of({measured("scenario/one/split:1+2", {0.5, 0.5, 0.5}, "images", 48),
               measured("skipped", {}), measured("scenario/\"quoted\"", {0.25}, "B", 1e6)});
  ASSERT_EQ(rows.size(), 3U + 4U + 1U);
  for (std::size_t i = 0; i < 3; ++i) {
    const nlohmann::json& row = rows[i];
    EXPECT_EQ(row.at("name"), "scenario/one/split:1+2");
    EXPECT_EQ(row.at("run_type"), "iteration");
    EXPECT_EQ(row.at("repetitions"), 3);
    EXPECT_EQ(row.at("repetition_index"), i);
    EXPECT_EQ(row.at("family_index"), 0);
    EXPECT_EQ(row.at("iterations"), 2);
    EXPECT_DOUBLE_EQ(row.at("real_time").get<double>(), 0.5e9);
    EXPECT_DOUBLE_EQ(row.at("cpu_time").get<double>(), 1.5e9);
    EXPECT_DOUBLE_EQ(row.at("items_per_second").get<double>(), 96);
  }
  EXPECT_EQ(rows[7].at("name"), "scenario/\"quoted\"");
  EXPECT_EQ(rows[7].at("family_index"), 1);
  EXPECT_DOUBLE_EQ(rows[7].at("bytes_per_second").get<double>(), 4e6);
}

TEST(GoogleBenchmark, CountersOfSamplesStandInTheirRows) {
  report::CaseResult c = measured("a/b", {1.0, 1.0});
  c.samples[0].counters = {{"CYCLES", 1e9}, {"broken", std::numeric_limits<double>::infinity()}};
  const auto rows = rows_of({c});
  EXPECT_DOUBLE_EQ(rows[0].at("CYCLES").get<double>(), 1e9);
  EXPECT_FALSE(rows[0].contains("broken"));
  EXPECT_FALSE(rows[1].contains("CYCLES"));
}

TEST(GoogleBenchmark, SamplesOfZeroSecondsLeaveFiniteRows) {
  EXPECT_EQ(rows_of({measured("a/b", {0.0, 0.0}, "FLOP", 1)}).size(), 6U);
}

TEST(GoogleBenchmark, WhatAnExecutionThrowsComesOut) {
  EXPECT_THROW((void)sample_with_google_benchmark(
                   3, 0, []() -> Timing { throw std::out_of_range("from a worker"); }),
               std::out_of_range);
  EXPECT_NO_THROW((void)sample_with_google_benchmark(1, 0, taking(1.0)));
}

TEST(GoogleBenchmark, ThrowingStopsTheSampleAtOnce) {
  int executions = 0;
  const auto second_throws = [&] {
    if (++executions == 2) throw 42;
    return Timing{1.0, 1.0};
  };
  EXPECT_THROW((void)sample_with_google_benchmark(10, 0, second_throws), int);
  EXPECT_EQ(executions, 2);
}

TEST(GoogleBenchmark, TimesThatAreNoneAreErrors) {
  for (const double seconds :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    EXPECT_THROW((void)sample_with_google_benchmark(1, 0, taking(seconds)), Error);
  }
}

class WrittenRows : public testing::Test {
 protected:
  [[nodiscard]] std::string written(RowFormat format, const RowStyle& style = {}) const {
    std::ostringstream text;
    write_rows(text, cases_, format, style);
    return text.str();
  }

 private:
  std::vector<report::CaseResult> cases_ = {measured("one", {1.0, 2.0, 6.0}, "images", 10),
                                            measured("two", {1.0, 2.0, 6.0})};  // without a rate
};

const nlohmann::json& row_named(const nlohmann::json& rows, const std::string& name) {
  for (const nlohmann::json& row : rows) {
    if (row.at("name") == name) return row;
  }
  throw std::out_of_range(name);
}

TEST_F(WrittenRows, JsonHasRepetitionsAndAggregates) {
  const auto rows = nlohmann::json::parse(written(RowFormat::json)).at("benchmarks");
  EXPECT_EQ(rows.size(), 14U);
  EXPECT_DOUBLE_EQ(row_named(rows, "one_mean").at("real_time").get<double>(), 3e9);
  EXPECT_DOUBLE_EQ(row_named(rows, "one_median").at("real_time").get<double>(), 2e9);
  EXPECT_NEAR(row_named(rows, "one_stddev").at("real_time").get<double>(), 2.6457513e9, 1e3);
  EXPECT_NEAR(row_named(rows, "one_cv").at("real_time").get<double>(), 0.88191710, 1e-7);
  EXPECT_DOUBLE_EQ(row_named(rows, "one_median").at("items_per_second").get<double>(), 5);
  EXPECT_EQ(row_named(rows, "one_mean").at("run_type"), "aggregate");
}

TEST_F(WrittenRows, AggregatesOnly) {
  const auto rows =
      nlohmann::json::parse(written(RowFormat::json, {.aggregates_only = true})).at("benchmarks");
  EXPECT_EQ(rows.size(), 8U);
}

TEST_F(WrittenRows, ColorAndTabularCountersAreOfTheConsole) {
  const std::string plain = written(RowFormat::console);
  EXPECT_THAT(plain, HasSubstr("items_per_second="));
  EXPECT_THAT(plain, Not(HasSubstr("\033[")));
  EXPECT_THAT(written(RowFormat::console, {.color = true}), HasSubstr("\033["));
  const std::string tabular = written(RowFormat::console, {.counters_tabular = true});
  EXPECT_THAT(tabular, HasSubstr("items_per_second"));
  EXPECT_THAT(tabular, Not(HasSubstr("items_per_second=")));
}

TEST_F(WrittenRows, ConsoleAndCsvNameEveryCase) {
  for (const RowFormat format : {RowFormat::console, RowFormat::csv}) {
    const std::string text = written(format);
    EXPECT_THAT(text, HasSubstr("one_median"));
    EXPECT_THAT(text, HasSubstr("two_median"));
  }
}

}  // namespace
}  // namespace parbench
