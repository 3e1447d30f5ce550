// The rows for Google Benchmark's readers.
#include "reports/google_benchmark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "kernels/error.h"
#include "reports/json.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

Report report_of(CaseResult c) {
  Report report;
  report.cases.push_back(std::move(c));
  return report;
}

Json raw_row(const std::string& name, double cpu_time, const char* unit) {
  return {{"name", name}, {"run_type", "iteration"}, {"cpu_time", cpu_time}, {"time_unit", unit}};
}

TEST(GoogleBenchmarkPart, HasTheRowsOfMeasuredCasesOnly) {
  const Report report = sample_report();
  const auto part = arranged(report, sample_rows(report));
  EXPECT_EQ(part.benchmarks.size(), 7U * (14 + 4));
  std::set<std::string> names;
  for (const Json& row : part.benchmarks) names.insert(row["run_name"].get<std::string>());
  EXPECT_EQ(names.size(), 7U);
  EXPECT_TRUE(names.contains(report.cases[6].name));
}

TEST(GoogleBenchmarkPart, PutsRowsOfInterleavedRoundsTogether) {
  const Report report = sample_report();
  const auto part = arranged(report, sample_rows(report));
  for (std::size_t i = 0; i < 14; ++i) {
    const Json& row = part.benchmarks[18 + i];
    EXPECT_EQ(row["name"], report.cases[1].name);
    EXPECT_EQ(row["family_index"], 1);
    EXPECT_EQ(row["repetition_index"], i);
    EXPECT_EQ(row["repetitions"], 14);
    EXPECT_EQ(row["time_unit"], "ns");
    EXPECT_DOUBLE_EQ(row["real_time"], report.cases[1].samples[i].seconds * 1e9);
    EXPECT_DOUBLE_EQ(row["cpu_time"], (0.5 + 0.001 * static_cast<double>(i)) * 1e6);
    EXPECT_EQ(row["page_faults"], 3);
  }
}

TEST(GoogleBenchmarkPart, RatesStandBesideTimes) {
  const Report report = sample_report();
  const auto part = arranged(report, {});
  const Json& row = part.benchmarks[0];
  const double seconds = report.cases[0].samples[0].seconds;
  EXPECT_DOUBLE_EQ(row["items_per_second"], 48 / seconds);
  EXPECT_DOUBLE_EQ(row["bytes_per_second"], 2.4e10 / seconds);
  EXPECT_DOUBLE_EQ(row["flop_per_second"], 3.9e11 / seconds);
}

TEST(GoogleBenchmarkPart, AmountsOfFlopsAndBytesAreNoItems) {
  CaseResult c = measured_case("overlap", "copy", {}, 0.5, 1);
  c.amount = 1e9;
  c.amount_unit = std::string("B");
  const auto part = arranged(report_of(c), {});
  EXPECT_FALSE(part.benchmarks[0].contains("items_per_second"));
  EXPECT_DOUBLE_EQ(part.benchmarks[0]["bytes_per_second"], 2e9);
}

TEST(GoogleBenchmarkPart, AggregatesComeFromTheStatistics) {
  const CaseResult c = measured_case("branch", "chain", {}, 0.25, 9);
  const auto part = arranged(report_of(c), {});
  ASSERT_EQ(part.benchmarks.size(), 13U);
  const Json& mean = part.benchmarks[9];
  EXPECT_EQ(mean["name"], "branch/chain_mean");
  EXPECT_EQ(mean["run_type"], "aggregate");
  EXPECT_EQ(mean["aggregate_unit"], "time");
  EXPECT_FALSE(mean.contains("repetition_index"));
  EXPECT_DOUBLE_EQ(mean["real_time"], c.statistics->mean * 1e9);
  EXPECT_DOUBLE_EQ(part.benchmarks[10]["real_time"], c.statistics->median * 1e9);
  EXPECT_DOUBLE_EQ(part.benchmarks[11]["real_time"], c.statistics->standard_deviation * 1e9);
  const Json& cv = part.benchmarks[12];
  EXPECT_EQ(cv["aggregate_unit"], "percentage");
  EXPECT_DOUBLE_EQ(cv["real_time"], c.statistics->standard_deviation / c.statistics->mean);
}

TEST(GoogleBenchmarkPart, AggregatesCpuTimeOfTheRows) {
  const CaseResult c = measured_case("branch", "chain", {}, 0.25, 4);
  GoogleBenchmarkPart raw;
  for (const double us : {4.0, 1.0, 2.0, 9.0}) {
    raw.benchmarks.push_back(raw_row("branch/chain/manual_time", us, "us"));
  }
  const auto part = arranged(report_of(c), raw);
  EXPECT_DOUBLE_EQ(part.benchmarks[4]["cpu_time"], 4000);
  EXPECT_DOUBLE_EQ(part.benchmarks[5]["cpu_time"], 3000);
  EXPECT_NEAR(part.benchmarks[6]["cpu_time"].get<double>(), 3559.03, 0.01);
  EXPECT_NEAR(part.benchmarks[7]["cpu_time"].get<double>(), 3559.03 / 4000, 1e-5);
}

TEST(GoogleBenchmarkPart, OneSampleHasNoAggregates) {
  const auto part = arranged(report_of(measured_case("branch", "chain", {}, 0.25, 1)), {});
  EXPECT_EQ(part.benchmarks.size(), 1U);
}

TEST(GoogleBenchmarkPart, WallTimeStandsInWhereRowsDoNotMatchTheSamples) {
  const CaseResult c = measured_case("branch", "chain", {}, 0.25, 3);
  GoogleBenchmarkPart raw;
  raw.benchmarks.push_back(raw_row("branch/chain", 1, "ns"));
  const auto part = arranged(report_of(c), raw);
  EXPECT_DOUBLE_EQ(part.benchmarks[0]["cpu_time"], c.samples[0].wall_seconds * 1e9);
}

TEST(GoogleBenchmarkPart, ANameThatContinuesAnotherIsNotMistakenForIt) {
  Report report;
  report.cases.push_back(measured_case("branch", "streams", {}, 0.25, 1));
  report.cases.push_back(
      measured_case("branch", "streams", {{"streams", std::int64_t{2}}}, 0.25, 1));
  GoogleBenchmarkPart raw;
  raw.benchmarks.push_back(raw_row("branch/streams/streams:2/iterations:3", 2, "ns"));
  raw.benchmarks.push_back(raw_row("branch/streams/iterations:3", 1, "ns"));
  raw.benchmarks.push_back(raw_row("somebody/else", 7, "ns"));
  const auto part = arranged(report, raw);
  ASSERT_EQ(part.benchmarks.size(), 2U);
  EXPECT_DOUBLE_EQ(part.benchmarks[0]["cpu_time"], 1);
  EXPECT_DOUBLE_EQ(part.benchmarks[1]["cpu_time"], 2);
}

TEST(GoogleBenchmarkPart, LeavesOutErrorsAndAggregatesOfTheRun) {
  const CaseResult c = measured_case("branch", "chain", {}, 0.25, 1);
  GoogleBenchmarkPart raw;
  raw.benchmarks.push_back(raw_row("branch/chain", 5, "ns"));
  raw.benchmarks.push_back(raw_row("branch/chain", 6, "ns"));
  raw.benchmarks[1]["error_occurred"] = true;
  raw.benchmarks.push_back(raw_row("branch/chain", 7, "ns"));
  raw.benchmarks[2]["run_type"] = "aggregate";
  EXPECT_DOUBLE_EQ(arranged(report_of(c), raw).benchmarks[0]["cpu_time"], 5);
}

TEST(GoogleBenchmarkPart, RearrangingChangesNothing) {
  const Report report = sample_report();
  const auto once = arranged(report, sample_rows(report));
  const auto twice = arranged(report, once);
  EXPECT_EQ(twice.benchmarks, once.benchmarks);
  EXPECT_EQ(twice.context, once.context);
}

TEST(GoogleBenchmarkPart, ContextIsKeptAndCompleted) {
  const Report report = sample_report();
  const auto part = arranged(report, sample_rows(report));
  EXPECT_EQ(part.context["date"], "2024-05-04T10:20:31+00:00");
  EXPECT_EQ(part.context["executable"], "parbench");
  EXPECT_TRUE(part.context["caches"].is_array());
  EXPECT_EQ(arranged(report, {}).context["date"], report.started_utc);
}

TEST(GoogleBenchmarkPart, TellsHowParbenchWasBuiltAndNotGoogleBenchmark) {
  Report report = sample_report();
  for (const std::string library : {"debug", "release"}) {
    const GoogleBenchmarkPart raw{{{"library_build_type", library}}, Json::array()};
    report.machine.build_type = "Release";
    EXPECT_EQ(arranged(report, raw).context["library_build_type"], "release");
    report.machine.build_type = "Debug";
    EXPECT_EQ(arranged(report, raw).context["library_build_type"], "debug");
  }
}

TEST(GoogleBenchmarkPart, IsWhatAFileHolds) {
  const Report report = sample_report();
  const Json file = to_json(report, sample_rows(report));
  const GoogleBenchmarkPart part = google_benchmark_part(file);
  EXPECT_EQ(part.context, file["context"]);
  EXPECT_EQ(part.benchmarks, file["benchmarks"]);
  EXPECT_TRUE(google_benchmark_part(Json::object()).benchmarks.empty());
}

TEST(GoogleBenchmarkPart, IsRefusedWithThePlaceWhereATypeIsWrong) {
  const auto complaint = [](const std::function<void(Json&)>& spoil) -> std::string {
    const Report report = sample_report();
    Json file = to_json(report, sample_rows(report));
    spoil(file);
    try {
      (void)google_benchmark_part(file);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(complaint([](Json& file) { file["context"] = 1; }),
            "context: expected an object, found number");
  EXPECT_EQ(complaint([](Json& file) { file["context"]["caches"] = "none"; }),
            "context.caches: expected a list, found string");
  EXPECT_EQ(complaint([](Json& file) { file["context"]["caches"] = {1}; }),
            "context.caches: expected a list of objects, found number");
  EXPECT_EQ(complaint([](Json& file) { file["benchmarks"] = Json::object(); }),
            "benchmarks: expected a list, found object");
  EXPECT_EQ(complaint([](Json& file) { file["benchmarks"][3] = nullptr; }),
            "benchmarks[3]: expected an object, found null");
  for (const std::string key : {"name", "run_type", "time_unit"}) {
    EXPECT_EQ(complaint([&](Json& file) { file["benchmarks"][3][key] = 7; }),
              "benchmarks[3]." + key + ": expected text, found number");
  }
  EXPECT_EQ(complaint([](Json& file) { file["benchmarks"][0]["error_occurred"] = 0; }),
            "benchmarks[0].error_occurred: expected true or false, found number");
}

TEST(GoogleBenchmarkPart, TimesBeyondReasonAreNone) {
  const CaseResult c = measured_case("branch", "chain", {}, 0.25, 1);
  GoogleBenchmarkPart raw;
  raw.benchmarks.push_back(raw_row("branch/chain", 1e300, "s"));
  EXPECT_DOUBLE_EQ(arranged(report_of(c), raw).benchmarks[0]["cpu_time"],
                   c.samples[0].wall_seconds * 1e9);
}

TEST(Projected, LeavesOutCasesWithoutSamplesUnlessTheMedianIsEnough) {
  Report report = sample_report();
  report.cases[0].samples.clear();
  const std::string name = report.cases[0].name;
  EXPECT_NE(projected(report, {}, Rows::all)["benchmarks"][0]["name"], name);
  const Json row = projected(report, {}, Rows::median)["benchmarks"][0];
  EXPECT_EQ(row["name"], name);
  EXPECT_DOUBLE_EQ(row["real_time"], report.cases[0].statistics->median * 1e9);
}

}  // namespace
}  // namespace parbench::report
