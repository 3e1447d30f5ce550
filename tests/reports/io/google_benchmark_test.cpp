// The rows for Google Benchmark's readers.
#include "reports/io/google_benchmark.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/io/json.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

Report report_of(CaseResult c) {
  Report report;
  report.cases.push_back(std::move(c));
  return report;
}

TEST(GoogleBenchmarkRows, HasTheRowsOfMeasuredCasesOnly) {
  const Report report = sample_report();
  const Json rows = google_benchmark_rows(report);
  EXPECT_EQ(rows.size(), 7U * (14 + 4));
  std::set<std::string> names;
  for (const Json& row : rows) names.insert(row["run_name"].get<std::string>());
  EXPECT_EQ(names.size(), 7U);
  EXPECT_TRUE(names.contains(report.cases[6].name));
}

TEST(GoogleBenchmarkRows, PutsRowsOfInterleavedRoundsTogether) {
  const Report report = sample_report();
  const Json rows = google_benchmark_rows(report);
  for (std::size_t i = 0; i < 14; ++i) {
    const Json& row = rows[18 + i];
    EXPECT_EQ(row["name"], report.cases[1].name);
    EXPECT_EQ(row["family_index"], 1);
    EXPECT_EQ(row["repetition_index"], i);
    EXPECT_EQ(row["repetitions"], 14);
    EXPECT_EQ(row["time_unit"], "ns");
    EXPECT_DOUBLE_EQ(row["real_time"], report.cases[1].samples[i].seconds * 1e9);
    EXPECT_DOUBLE_EQ(row["cpu_time"], report.cases[1].samples[i].cpu_seconds * 1e9);
  }
}

TEST(GoogleBenchmarkRows, HaveTheCountersOfTheSamples) {
  const Json rows = google_benchmark_rows(sample_report());
  EXPECT_EQ(rows[5 * 18 + 2]["CYCLES"], 3e9);
  EXPECT_FALSE(rows[5 * 18 + 3].contains("CYCLES"));
}

TEST(GoogleBenchmarkRows, RatesStandBesideTimes) {
  const Report report = sample_report();
  const Json rows = google_benchmark_rows(report);
  const Json& row = rows[0];
  const double seconds = report.cases[0].samples[0].seconds;
  EXPECT_DOUBLE_EQ(row["items_per_second"], 48 / seconds);
  EXPECT_DOUBLE_EQ(row["bytes_per_second"], 2.4e10 / seconds);
  EXPECT_DOUBLE_EQ(row["flop_per_second"], 3.9e11 / seconds);
}

TEST(GoogleBenchmarkRows, AmountsOfFlopsAndBytesAreNoItems) {
  CaseResult c = measured_case("overlap", "copy", {}, 0.5, 1);
  c.amount = 1e9;
  c.amount_unit = std::string("B");
  const Json rows = google_benchmark_rows(report_of(c));
  EXPECT_FALSE(rows[0].contains("items_per_second"));
  EXPECT_DOUBLE_EQ(rows[0]["bytes_per_second"], 2e9);
}

TEST(GoogleBenchmarkRows, AggregatesComeFromTheStatistics) {
  const CaseResult c = measured_case("branch", "chain", {}, 0.25, 9);
  const Json rows = google_benchmark_rows(report_of(c));
  ASSERT_EQ(rows.size(), 13U);
  const Json& mean = rows[9];
  EXPECT_EQ(mean["name"], "branch/chain_mean");
  EXPECT_EQ(mean["run_type"], "aggregate");
  EXPECT_EQ(mean["aggregate_unit"], "time");
  EXPECT_FALSE(mean.contains("repetition_index"));
  EXPECT_DOUBLE_EQ(mean["real_time"], c.statistics->mean * 1e9);
  EXPECT_DOUBLE_EQ(rows[10]["real_time"], c.statistics->median * 1e9);
  EXPECT_DOUBLE_EQ(rows[11]["real_time"], c.statistics->standard_deviation * 1e9);
  const Json& cv = rows[12];
  EXPECT_EQ(cv["aggregate_unit"], "percentage");
  EXPECT_DOUBLE_EQ(cv["real_time"], c.statistics->standard_deviation / c.statistics->mean);
}

TEST(GoogleBenchmarkRows, AggregateTheCpuTimeOfTheSamples) {
  CaseResult c = measured_case("branch", "chain", {}, 0.25, 4);
  for (const std::size_t i : {0, 1, 2, 3})
    c.samples[i].cpu_seconds = std::array{4, 1, 2, 9}[i] * 1e-6;
  const Json rows = google_benchmark_rows(report_of(c));
  EXPECT_DOUBLE_EQ(rows[4]["cpu_time"], 4000);
  EXPECT_DOUBLE_EQ(rows[5]["cpu_time"], 3000);
  EXPECT_NEAR(rows[6]["cpu_time"].get<double>(), 3559.03, 0.01);
  EXPECT_NEAR(rows[7]["cpu_time"].get<double>(), 3559.03 / 4000, 1e-5);
}

TEST(GoogleBenchmarkRows, OneSampleHasNoAggregates) {
  const Json rows = google_benchmark_rows(report_of(measured_case("branch", "chain", {}, 0.25, 1)));
  EXPECT_EQ(rows.size(), 1U);
}

TEST(GoogleBenchmarkContext, IsThatOfTheMachine) {
  const Json context = google_benchmark_context(sample_report());
  EXPECT_EQ(context["date"], "2024-05-04T10:20:30Z");
  EXPECT_EQ(context["executable"], "parbench");
  EXPECT_EQ(context["num_cpus"], 2);
  EXPECT_EQ(context["caches"][1],
            Json({{"type", "Unified"}, {"level", 2}, {"size", 1048576}, {"num_sharing", 1}}));
  EXPECT_EQ(context["load_avg"], Json({0.5, 0.25, 0.125}));
}

TEST(GoogleBenchmarkContext, HasTheBuildTypeOfParbench) {
  Report report = sample_report();
  report.machine.build_type = "Release";
  EXPECT_EQ(google_benchmark_context(report)["library_build_type"], "release");
  report.machine.build_type = "Debug";
  EXPECT_EQ(google_benchmark_context(report)["library_build_type"], "debug");
}

TEST(GoogleBenchmarkRows, AreWhatAFileHolds) {
  const Report report = sample_report();
  const Json file = to_json(report);
  EXPECT_EQ(file["context"], google_benchmark_context(report));
  EXPECT_EQ(file["benchmarks"], google_benchmark_rows(report));
}

TEST(GoogleBenchmarkText, LeavesOutCasesWithoutSamplesUnlessTheMedianIsEnough) {
  Report report = sample_report();
  report.cases[0].samples.clear();
  const std::string name = report.cases[0].name;
  EXPECT_NE(Json::parse(google_benchmark_text(report, Rows::all))["benchmarks"][0]["name"], name);
  const Json row = Json::parse(google_benchmark_text(report, Rows::median))["benchmarks"][0];
  EXPECT_EQ(row["name"], name);
  EXPECT_DOUBLE_EQ(row["real_time"], report.cases[0].statistics->median * 1e9);
}

}  // namespace
}  // namespace parbench::report
