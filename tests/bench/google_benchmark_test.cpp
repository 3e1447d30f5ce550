// Samples under Google Benchmark: what comes back, and the rows that are kept.
#include "bench/google_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

#include "kernels/error.h"
#include "reports/google_benchmark.h"

namespace parbench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::function<Timing()> taking(double seconds) {
  return [seconds] { return Timing{seconds, 2 * seconds}; };
}

TEST(GoogleBenchmark, ASampleIsTheMeanOfItsIterations) {
  GoogleBenchmark harness;
  const std::size_t index = harness.add("a/b", {});
  int executions = 0;
  const report::Sample sample = harness.sample(index, 5, 3, [&] {
    ++executions;
    return Timing{executions * 1e-3, 1.0};
  });
  EXPECT_EQ(executions, 5);
  EXPECT_NEAR(sample.seconds, 3e-3, 1e-15);
  EXPECT_DOUBLE_EQ(sample.wall_seconds, 1.0);
  EXPECT_EQ(sample.iterations, 5);
  EXPECT_EQ(sample.round, 3);
}

TEST(GoogleBenchmark, EverySampleIsARowWithItsRepetition) {
  GoogleBenchmark harness;
  const std::size_t first = harness.add("scenario/one/split:1+2", {48, "images"});
  const std::size_t second = harness.add("scenario/two/\"quoted\"", {1e6, "B"});
  for (int round = 0; round < 3; ++round) {
    (void)harness.sample(first, 2, round, taking(0.5));
    (void)harness.sample(second, 1, round, taking(0.25));
  }
  const report::GoogleBenchmarkPart part = harness.part();
  ASSERT_EQ(part.benchmarks.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i) {
    const report::Json& row = part.benchmarks[i];
    EXPECT_EQ(row.at("name"), "scenario/one/split:1+2");
    EXPECT_EQ(row.at("run_type"), "iteration");
    EXPECT_EQ(row.at("repetitions"), 3);
    EXPECT_EQ(row.at("repetition_index"), i);
    EXPECT_EQ(row.at("family_index"), 0);
    EXPECT_EQ(row.at("iterations"), 2);
    EXPECT_DOUBLE_EQ(row.at("real_time").get<double>(), 0.5e9);
    EXPECT_DOUBLE_EQ(row.at("items_per_second").get<double>(), 96);
  }
  EXPECT_EQ(part.benchmarks[3].at("name"), "scenario/two/\"quoted\"");
  EXPECT_EQ(part.benchmarks[3].at("family_index"), 1);
  EXPECT_DOUBLE_EQ(part.benchmarks[3].at("bytes_per_second").get<double>(), 4e6);
  EXPECT_TRUE(part.context.contains("num_cpus"));
}

TEST(GoogleBenchmark, SamplesOfZeroSecondsLeaveFiniteRows) {
  GoogleBenchmark harness;
  const std::size_t index = harness.add("a/b", {1, "FLOP"});
  (void)harness.sample(index, 1, 0, taking(0.0));
  (void)harness.sample(index, 1, 1, taking(0.0));
  const report::GoogleBenchmarkPart part = harness.part();
  EXPECT_EQ(part.benchmarks.size(), 2U);
  std::ostringstream text;
  harness.write(text, RowFormat::json);
  EXPECT_TRUE(nlohmann::json::accept(text.str())) << text.str();
}

TEST(GoogleBenchmark, WhatAnExecutionThrowsComesOutAndLeavesNoRow) {
  GoogleBenchmark harness;
  const std::size_t index = harness.add("a/b", {});
  EXPECT_THROW((void)harness.sample(index, 3, 0,
                                    []() -> Timing { throw std::out_of_range("from a worker"); }),
               std::out_of_range);
  EXPECT_TRUE(harness.part().benchmarks.empty());
  EXPECT_NO_THROW((void)harness.sample(index, 1, 0, taking(1.0)));
  EXPECT_EQ(harness.part().benchmarks.size(), 1U);
}

TEST(GoogleBenchmark, ThrowingStopsTheSampleAtOnce) {
  GoogleBenchmark harness;
  const std::size_t index = harness.add("a/b", {});
  int executions = 0;
  const auto second_throws = [&] {
    if (++executions == 2) throw 42;
    return Timing{1.0, 1.0};
  };
  EXPECT_THROW((void)harness.sample(index, 10, 0, second_throws), int);
  EXPECT_EQ(executions, 2);
}

TEST(GoogleBenchmark, TimesThatAreNoneAreErrors) {
  GoogleBenchmark harness;
  const std::size_t index = harness.add("a/b", {});
  for (const double seconds :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    EXPECT_THROW((void)harness.sample(index, 1, 0, taking(seconds)), Error);
  }
  EXPECT_TRUE(harness.part().benchmarks.empty());
}

TEST(GoogleBenchmark, TakesTheRowsOfAnotherProcess) {
  report::CaseResult measured;
  measured.name = "scenario/one";
  measured.amount = 48;
  measured.amount_unit = "images";
  measured.samples.resize(2);
  GoogleBenchmark other;
  const std::size_t index = other.add(measured.name, {48, "images"});
  for (int round = 0; round < 2; ++round) (void)other.sample(index, 2, round, taking(0.5));
  report::GoogleBenchmarkPart rows = other.part();
  rows.benchmarks[0]["CYCLES"] = 1e9;
  GoogleBenchmark harness;
  harness.take_rows({measured}, rows);
  harness.take_rows({measured}, rows);
  const report::GoogleBenchmarkPart part = harness.part();
  ASSERT_EQ(part.benchmarks.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    report::Json row = part.benchmarks[i];
    EXPECT_EQ(row.at("repetitions"), 4);
    EXPECT_EQ(row.at("repetition_index"), i);
    EXPECT_EQ(row.at("iterations"), 2);
    EXPECT_DOUBLE_EQ(row.at("real_time").get<double>(), 0.5e9);
    EXPECT_DOUBLE_EQ(row.at("cpu_time").get<double>(),
                     rows.benchmarks[i % 2].at("cpu_time").get<double>());
    EXPECT_DOUBLE_EQ(row.at("items_per_second").get<double>(), 96);
    EXPECT_EQ(row.contains("CYCLES"), i % 2 == 0);
  }
}

TEST(GoogleBenchmark, DiscardedCasesHaveNoRow) {
  GoogleBenchmark harness;
  const std::size_t kept = harness.add("kept", {});
  const std::size_t wrong = harness.add("wrong", {});
  (void)harness.sample(kept, 1, 0, taking(1.0));
  (void)harness.sample(wrong, 1, 0, taking(1.0));
  harness.discard(wrong);
  std::ostringstream text;
  harness.write(text, RowFormat::json);
  EXPECT_THAT(text.str(), HasSubstr("kept"));
  EXPECT_THAT(text.str(), Not(HasSubstr("wrong")));
}

class WrittenRows : public testing::Test {
 protected:
  WrittenRows() {
    const std::size_t one = harness_.add("one", {10, "images"});
    const std::size_t two = harness_.add("two", {});  // without a rate
    for (const double seconds : {1.0, 2.0, 6.0}) {
      (void)harness_.sample(one, 4, 0, taking(seconds));
      (void)harness_.sample(two, 1, 0, taking(seconds));
    }
  }
  [[nodiscard]] std::string written(RowFormat format, const RowStyle& style = {}) const {
    std::ostringstream text;
    harness_.write(text, format, style);
    return text.str();
  }

 private:
  GoogleBenchmark harness_;
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
