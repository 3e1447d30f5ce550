// Files of programs that use Google Benchmark, of old and new versions, as reports.
#include "reports/io/google_benchmark_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/file.h"
#include "reports/io/google_benchmark.h"
#include "reports/io/json.h"
#include "reports/views/table.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

/// A file of version 1.9 with one benchmark of three repetitions.
Json file() {
  Json rows = Json::array();
  for (int i = 0; i < 3; ++i) {
    rows.push_back({{"name", "BM_sum/1024"},
                    {"family_index", 0},
                    {"per_family_instance_index", 0},
                    {"run_name", "BM_sum/1024"},
                    {"run_type", "iteration"},
                    {"repetitions", 3},
                    {"repetition_index", i},
                    {"threads", 1},
                    {"iterations", 1000},
                    {"real_time", 20.0 + i},
                    {"cpu_time", 19.0 + i},
                    {"time_unit", "us"}});
  }
  return {{"context",
           {{"date", "2026-11-23T18:33:28+02:00"},
            {"host_name", "here"},
            {"executable", "./build/sum_bench"},
            {"num_cpus", 4},
            {"mhz_per_cpu", 2596},
            {"cpu_scaling_enabled", false},
            {"caches",
             {{{"type", "Data"}, {"level", 1}, {"size", 32768}, {"num_sharing", 1}},
              {{"type", "Instruction"}, {"level", 1}, {"size", 32768}, {"num_sharing", 1}},
              {{"type", "Unified"}, {"level", 2}, {"size", 1048576}, {"num_sharing", 2}}}},
            {"load_avg", {0.5, 0.25, 0.125}},
            {"library_version", "v1.9.0"},
            {"library_build_type", "release"},
            {"json_schema_version", 1}}},
          {"benchmarks", std::move(rows)}};
}

/// A row as versions before 1.5 write it.
Json old_row(const std::string& name, double real_time) {
  return {{"name", name},
          {"iterations", 10},
          {"real_time", real_time},
          {"cpu_time", real_time},
          {"time_unit", "ns"}};
}

Json old_file(const std::vector<std::string>& names) {
  Json json{{"context", {{"date", "2019/02/21-13:37:24"}, {"executable", "old"}, {"num_cpus", 2}}},
            {"benchmarks", Json::array()}};
  double time = 10;
  for (const std::string& name : names) json["benchmarks"].push_back(old_row(name, time++));
  return json;
}

/// A file with a benchmark of one row for each name, in families of their own.
Json instances(const std::vector<std::string>& names) {
  Json json = file();
  const Json row = json["benchmarks"][0];
  json["benchmarks"] = Json::array();
  for (const std::string& name : names) {
    Json& added = json["benchmarks"].emplace_back(row);
    added["name"] = added["run_name"] = name;
    added["family_index"] = json["benchmarks"].size();
  }
  return json;
}

CaseResult read_case(const std::function<void(Json& row)>& change) {
  Json json = file();
  for (Json& row : json["benchmarks"]) change(row);
  return from_google_benchmark(json).cases.at(0);
}

std::string refusal_of(const Json& json) {
  try {
    (void)from_google_benchmark(json);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal_of(const std::function<void(Json&)>& spoil) {
  Json json = file();
  spoil(json);
  return refusal_of(json);
}

std::vector<std::string> names_of(const Report& report) {
  std::vector<std::string> names;
  for (const CaseResult& c : report.cases) names.push_back(c.name);
  return names;
}

TEST(GoogleBenchmarkReader, TakesRepetitionsAsSamples) {
  const Report report = from_google_benchmark(file());
  EXPECT_TRUE(report.complete);
  ASSERT_EQ(report.cases.size(), 1U);
  const CaseResult& c = report.cases[0];
  EXPECT_EQ(c.name, "BM_sum/1024");
  EXPECT_EQ(c.scenario, "sum_bench");
  EXPECT_EQ(c.strategy, "BM_sum");
  EXPECT_EQ(c.parameters, (NamedValues{{"arg0", std::int64_t{1024}}}));
  EXPECT_EQ(c.status, CaseStatus::measured);
  ASSERT_EQ(c.samples.size(), 3U);
  EXPECT_DOUBLE_EQ(c.samples[2].seconds, 22e-6);
  EXPECT_DOUBLE_EQ(c.samples[2].cpu_seconds, 21e-6);
  EXPECT_EQ(c.samples[2].iterations, 1000);
  ASSERT_TRUE(c.statistics);
  EXPECT_DOUBLE_EQ(c.statistics->median, 21e-6);
  EXPECT_TRUE(c.statistics->median_interval);
}

TEST(GoogleBenchmarkReader, TakesTheMachineFromTheContext) {
  const Report report = from_google_benchmark(file());
  EXPECT_EQ(program_of(report), "Google Benchmark 1.9.0");
  EXPECT_EQ(report.started_utc, "2026-11-23T16:33:28Z");
  EXPECT_EQ(report.machine.host, "here");
  EXPECT_EQ(report.machine.cores_online, 4);
  EXPECT_EQ(report.machine.cpu_model, "CPU with caches of 32.0 KiB L1, 1.00 MiB L2");
  EXPECT_EQ(report.machine.cpu_mhz, 2596);
  EXPECT_FALSE(report.machine.commit);
  Json json = file();
  json["context"]["commit"] = "0123abc";
  EXPECT_EQ(from_google_benchmark(json).machine.commit, "0123abc");
  json["context"]["commit_subject"] = "Say more";
  json["context"]["commit_author"] = "A. Author";
  json["context"]["branch"] = "main";
  const Report labelled = from_google_benchmark(json);
  EXPECT_EQ(labelled.machine.commit_subject, "Say more");
  EXPECT_EQ(labelled.machine.commit_author, "A. Author");
  EXPECT_THAT(labelled.labels, ElementsAre(Pair("branch", "main")));
  json["context"].erase("caches");
  EXPECT_EQ(from_google_benchmark(json).machine.cpu_model, "unknown CPU");
}

TEST(GoogleBenchmarkReader, ReadsEveryUnitOfTime) {
  const auto median_in = [](const char* unit) {
    return read_case([&](Json& row) { row["time_unit"] = unit; }).statistics->median;
  };
  EXPECT_DOUBLE_EQ(median_in("ns"), 21e-9);
  EXPECT_DOUBLE_EQ(median_in("us"), 21e-6);
  EXPECT_DOUBLE_EQ(median_in("ms"), 21e-3);
  EXPECT_DOUBLE_EQ(median_in("s"), 21);
  const CaseResult weeks = read_case([](Json& row) { row["time_unit"] = "weeks"; });
  EXPECT_EQ(weeks.status, CaseStatus::failed);
  EXPECT_THAT(weeks.error, AllOf(HasSubstr("20.0 weeks"), HasSubstr("expected ns, us, ms or s")));
}

TEST(GoogleBenchmarkReader, PairsNoRepetitionsOfDifferentBenchmarks) {
  Json json = file();
  for (int i = 0; i < 3; ++i) {
    Json row = json["benchmarks"][i];
    row["name"] = row["run_name"] = "BM_sum/2048";
    row["per_family_instance_index"] = 1;
    json["benchmarks"].push_back(std::move(row));
  }
  std::set<int> rounds;
  for (const CaseResult& c : from_google_benchmark(json).cases) {
    for (const Sample& sample : c.samples) rounds.insert(sample.round);
  }
  EXPECT_EQ(rounds.size(), 6U);
}

TEST(GoogleBenchmarkReader, TakesRatesAndCountersAndLabels) {
  const CaseResult items = read_case([](Json& row) {
    row["items_per_second"] = 5e6;
    row["bytes_per_second"] = 4e7;
    row["CYCLES"] = 3;
    row["not_finite"] = nullptr;
    row["label"] = "warm";
  });
  EXPECT_EQ(items.amount_unit, "items");
  EXPECT_DOUBLE_EQ(items.throughput, 5e6);
  EXPECT_DOUBLE_EQ(items.amount / items.statistics->median, 5e6);
  EXPECT_DOUBLE_EQ(items.bytes / items.statistics->median, 4e7);
  EXPECT_EQ(items.samples[0].counters, (NamedNumbers{{"CYCLES", 3}}));
  EXPECT_THAT(items.notes, ElementsAre(Pair("label", "warm")));
  const CaseResult bytes = read_case([](Json& row) { row["bytes_per_second"] = 4e7; });
  EXPECT_EQ(bytes.amount_unit, "B");
  EXPECT_DOUBLE_EQ(bytes.throughput, 4e7);
  EXPECT_EQ(read_case([](Json&) {}).throughput, 0);
}

TEST(GoogleBenchmarkReader, TakesCountsOfAnySize) {
  const auto iterations_of = [](const Json& count) {
    return read_case([&](Json& row) { row["iterations"] = count; }).samples.at(0).iterations;
  };
  EXPECT_EQ(iterations_of(5'000'000'000), 5'000'000'000);
  EXPECT_EQ(iterations_of(std::ldexp(1.0, 62)), std::int64_t{1} << 62U);
  EXPECT_EQ(iterations_of(std::ldexp(1.0, 63)), 1) << "which is no count of iterations";
  EXPECT_EQ(iterations_of(-3), 1);
}

TEST(GoogleBenchmarkReader, LeavesAggregatesOut) {
  Json json = file();
  Json aggregate = json["benchmarks"][0];
  aggregate["name"] = "BM_sum/1024_mean";
  aggregate["run_type"] = "aggregate";
  aggregate["aggregate_name"] = "mean";
  json["benchmarks"].push_back(aggregate);
  json["benchmarks"].push_back({{"name", "BM_sum_BigO"},
                                {"run_name", "BM_sum"},
                                {"run_type", "aggregate"},
                                {"cpu_coefficient", 1},
                                {"real_coefficient", 1},
                                {"big_o", "N"},
                                {"time_unit", "ns"}});
  const Report report = from_google_benchmark(json);
  EXPECT_THAT(names_of(report), ElementsAre("BM_sum/1024"));
  EXPECT_EQ(report.cases[0].samples.size(), 3U);
}

TEST(GoogleBenchmarkReader, WantsMoreThanAggregates) {
  EXPECT_THAT(refusal_of([](Json& json) {
                for (Json& row : json["benchmarks"]) row["run_type"] = "aggregate";
              }),
              AllOf(HasSubstr("has aggregates only"),
                    HasSubstr("--benchmark_report_aggregates_only=false")));
  EXPECT_THAT(refusal_of(old_file({"BM_x_mean", "BM_x_median", "BM_x_stddev"})),
              HasSubstr("has aggregates only"));
  Json json = file();
  Json row = json["benchmarks"][0];
  row["name"] = "BM_other_mean";
  row["run_name"] = "BM_other";
  row["run_type"] = "aggregate";
  json["benchmarks"].push_back(row);
  const Report report = from_google_benchmark(json);
  ASSERT_THAT(names_of(report), ElementsAre("BM_sum/1024", "BM_other"));
  EXPECT_EQ(report.cases[1].status, CaseStatus::skipped);
  EXPECT_THAT(report.cases[1].error, HasSubstr("only aggregates"));
  EXPECT_FALSE(report.complete);
}

TEST(GoogleBenchmarkReader, ReadsFilesOfOldVersions) {
  const Report report = from_google_benchmark(
      old_file({"BM_x/8", "BM_x/8", "BM_x/8_mean", "BM_x/8_median", "BM_x/8_stddev", "BM_x/8_max",
                "BM_grand_mean", "BM_x_BigO"}));
  EXPECT_EQ(report.started_utc, "2019-02-21T13:37:24Z");
  EXPECT_EQ(program_of(report), "Google Benchmark");
  ASSERT_THAT(names_of(report), ElementsAre("BM_x/8", "BM_grand_mean", "BM_x_BigO"));
  EXPECT_EQ(report.cases[0].samples.size(), 2U);
}

TEST(GoogleBenchmarkReader, NumbersBenchmarksOfOneName) {
  Json json = file();
  for (int i = 0; i < 3; ++i) {
    Json row = json["benchmarks"][i];
    row["per_family_instance_index"] = 1;
    json["benchmarks"].push_back(std::move(row));
  }
  const Report by_instance = from_google_benchmark(json);
  EXPECT_THAT(names_of(by_instance), ElementsAre("BM_sum/1024", "BM_sum/1024 (2)"));
  EXPECT_EQ(by_instance.cases[1].samples.size(), 3U);
  for (Json& row : json["benchmarks"]) row.erase("family_index");
  const Report by_repetition = from_google_benchmark(json);
  EXPECT_THAT(names_of(by_repetition), ElementsAre("BM_sum/1024", "BM_sum/1024 (2)"));
  EXPECT_EQ(by_repetition.cases[1].samples.size(), 3U);
}

TEST(GoogleBenchmarkReader, NumbersKeepClearOfTheNamesInTheFile) {
  EXPECT_THAT(names_of(from_google_benchmark(
                  instances({"BM_sum (2)", "BM_sum", "BM_sum", "BM_sum (3)", "BM_sum"}))),
              ElementsAre("BM_sum (2)", "BM_sum", "BM_sum (4)", "BM_sum (3)", "BM_sum (5)"));
}

TEST(GoogleBenchmarkReader, ReadsProgramsOfThousandsOfFunctions) {
  std::vector<std::string> names(3'000);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = "BM_" + std::to_string(i);
  const Report report = from_google_benchmark(old_file(names));
  EXPECT_EQ(report.cases.size(), names.size());
  EXPECT_THAT(to_table(report), HasSubstr("BM_2999"));
}

TEST(GoogleBenchmarkReader, SaysWhatNoTableHoldsInTheWordsOfTheFile) {
  std::vector<std::string> names(1'200);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = "BM/n" + std::to_string(i) + ":1";
  EXPECT_THAT(refusal_of(old_file(names)),
              AllOf(HasSubstr("cases: 1200 cases name 1201 "), Not(HasSubstr("parbench"))));
  std::string text = file().dump();
  for (int i = 0; i < 300; ++i) {
    const std::string time = "\"time_unit\"";
    text.insert(text.find(time), "\"counter" + std::to_string(i) + "\":1,");
  }
  try {
    (void)report_of_text(text);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("benchmarks[0]: has more than 256 keys"),
                                    Not(HasSubstr("parbench"))));
  }
}

TEST(GoogleBenchmarkReader, AnErrorIsAFailedCase) {
  const CaseResult failed = read_case([](Json& row) {
    row["error_occurred"] = true;
    row["error_message"] = "planted";
  });
  EXPECT_EQ(failed.status, CaseStatus::failed);
  EXPECT_EQ(failed.error, "planted");
  EXPECT_TRUE(failed.samples.empty());
  const CaseResult skipped = read_case([](Json& row) {
    row["skipped"] = true;
    row["skip_message"] = "no AVX";
  });
  EXPECT_EQ(skipped.status, CaseStatus::skipped);
  EXPECT_EQ(skipped.error, "no AVX");
  const CaseResult timeless = read_case([](Json& row) { row["real_time"] = nullptr; });
  EXPECT_EQ(timeless.status, CaseStatus::failed);
  EXPECT_EQ(timeless.error, "real_time is not a valid time: null us; expected ns, us, ms or s");
}

/// Reads the file with a change of its second row of three.
Report read_with(const std::function<void(Json& row)>& change) {
  Json json = file();
  change(json["benchmarks"][1]);
  return from_google_benchmark(json);
}

TEST(GoogleBenchmarkReader, ACaseWithFailuresInSomeRepetitionsHasNoNumber) {
  const auto second = [](const std::function<void(Json & row)>& change) {
    return read_with(change).cases.at(0);
  };
  const CaseResult failed = second([](Json& row) {
    row["error_occurred"] = true;
    row["error_message"] = "connection refused";
    row["real_time"] = 0;
  });
  EXPECT_EQ(failed.status, CaseStatus::failed);
  EXPECT_EQ(failed.error, "1 of 3 repetitions failed: connection refused");
  EXPECT_TRUE(failed.samples.empty());
  EXPECT_FALSE(failed.statistics);
  const CaseResult nameless = second([](Json& row) { row["error_occurred"] = true; });
  EXPECT_EQ(nameless.error, "1 of 3 repetitions failed");
  const CaseResult skipped = second([](Json& row) {
    row["skipped"] = true;
    row["skip_message"] = "no network";
  });
  EXPECT_EQ(skipped.status, CaseStatus::skipped);
  EXPECT_EQ(skipped.error, "1 of 3 repetitions skipped themselves: no network");
}

TEST(GoogleBenchmarkReader, AFailureGoesBeforeASkip) {
  Json json = file();
  json["benchmarks"][0]["skipped"] = true;
  json["benchmarks"][2]["error_occurred"] = true;
  EXPECT_EQ(from_google_benchmark(json).cases.at(0).status, CaseStatus::failed);
}

TEST(GoogleBenchmarkReader, ATimeThatIsNoneFailsItsCaseAlone) {
  for (const Json& time : {Json(-1), Json("x"), Json(1e300), Json(), Json::array()}) {
    Json json = file();
    Json other = json["benchmarks"][0];
    other["name"] = other["run_name"] = "BM_other";
    other["family_index"] = 1;
    json["benchmarks"].push_back(other);
    json["benchmarks"][1]["real_time"] = time;
    const Report report = from_google_benchmark(json);
    ASSERT_EQ(report.cases.size(), 2U);
    EXPECT_EQ(report.cases[0].status, CaseStatus::failed);
    EXPECT_THAT(report.cases[0].error, AllOf(HasSubstr("1 of 3 repetitions have no time"),
                                             HasSubstr(time.dump() + " us")));
    EXPECT_EQ(report.cases[1].status, CaseStatus::measured) << time;
  }
}

TEST(GoogleBenchmarkReader, AnUnusableFieldIsUnknownInItsCase) {
  for (const Json& time : {Json(-1678), Json("x"), Json(1e300), Json()}) {
    const Report report = read_with([&](Json& row) { row["cpu_time"] = time; });
    const CaseResult& c = report.cases.at(0);
    EXPECT_EQ(c.status, CaseStatus::measured);
    EXPECT_DOUBLE_EQ(c.statistics->median, 21e-6) << "by real time";
    for (const Sample& sample : c.samples) EXPECT_EQ(sample.cpu_seconds, 0);
    ASSERT_EQ(report.file_notes.size(), 1U) << time;
    EXPECT_THAT(report.file_notes[0].what, HasSubstr("cpu_time was ignored"));
    EXPECT_THAT(report.file_notes[0].first,
                AllOf(HasSubstr("BM_sum/1024"), HasSubstr(time.dump())));
  }
  EXPECT_TRUE(read_with([](Json& row) { row["cpu_time"] = 0; }).file_notes.empty())
      << "a coarse clock's";
  const Report rates = read_with([](Json& row) {
    row["items_per_second"] = -3;
    row["iterations"] = "many";
    row["threads"] = "two";
    row["label"] = 3;
  });
  EXPECT_EQ(rates.cases.at(0).throughput, 0);
  EXPECT_EQ(rates.cases.at(0).status, CaseStatus::measured);
}

TEST(GoogleBenchmarkReader, NamesAnUnusableRateOnce) {
  const auto read = [](const Json& rate) {
    Json json = file();
    for (Json& row : json["benchmarks"]) {
      row["items_per_second"] = row["bytes_per_second"] = 5e6;
    }
    json["benchmarks"][1]["items_per_second"] = rate;
    json["benchmarks"][2]["items_per_second"] = rate;
    return from_google_benchmark(json);
  };
  for (const Json& rate : {Json(0), Json(-1), Json()}) {
    const Report report = read(rate);
    EXPECT_EQ(report.cases.at(0).amount_unit, "B") << rate;
    ASSERT_EQ(report.file_notes.size(), 1U) << rate;
    EXPECT_THAT(report.file_notes[0].what, HasSubstr("items_per_second was ignored"));
    EXPECT_EQ(report.file_notes[0].count, 1) << "number of cases";
  }
  EXPECT_EQ(read(6e6).cases.at(0).amount_unit, "items");
}

TEST(GoogleBenchmarkReader, NamesThePlaceOfWhatIsWrong) {
  EXPECT_THAT(refusal_of([](Json& json) { json["benchmarks"] = Json::object(); }),
              AllOf(HasSubstr("expected a list, found object"), HasSubstr("take the file as")));
  EXPECT_THAT(refusal_of([](Json& json) { json["benchmarks"] = Json::array(); }),
              HasSubstr("benchmarks: is empty"));
  EXPECT_THAT(refusal_of([](Json& json) { json["benchmarks"][2] = "x"; }),
              HasSubstr("benchmarks[2]: expected an object, found string"));
  EXPECT_THAT(refusal_of([](Json& json) { json["benchmarks"][2].erase("name"); }),
              HasSubstr("benchmarks[2].name: is missing"));
  EXPECT_THAT(refusal_of([](Json& json) { json["context"] = "none"; }),
              HasSubstr("context: expected an object"));
}

TEST(GoogleBenchmarkReader, ReadsAFileWithoutContext) {
  Json without = file();
  without.erase("context");
  Json null = file();
  null["context"] = nullptr;
  EXPECT_EQ(from_google_benchmark(null), from_google_benchmark(without));
}

TEST(GoogleBenchmarkReader, MakesAReportThatCanBeWritten) {
  const Report report = from_google_benchmark(file());
  EXPECT_EQ(from_json(Json::parse(to_text(to_json(report)))), report);
}

TEST(GoogleBenchmarkReader, ReadsWhatParbenchExports) {
  const Report own = sample_report();
  const Report read = report_of_text(google_benchmark_text(own, Rows::all));
  ASSERT_FALSE(read.cases.empty());
  EXPECT_EQ(read.cases[0].name, own.cases[0].name);
  EXPECT_EQ(read.cases[0].samples.size(), own.cases[0].samples.size());
  EXPECT_DOUBLE_EQ(read.cases[0].samples[3].seconds, own.cases[0].samples[3].seconds);
}

TEST(GoogleBenchmarkReader, LeavesReportsOfParbenchToTheirReader) {
  EXPECT_FALSE(is_google_benchmark(to_json(sample_report())));
  EXPECT_TRUE(is_google_benchmark(file()));
  EXPECT_FALSE(is_google_benchmark(Json{{"benchmarks", Json::array()}}));
  EXPECT_FALSE(is_google_benchmark(Json::array()));
}

}  // namespace
}  // namespace parbench::report
