// Contexts of files of Google Benchmark, complete or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "reports/io/google_benchmark_reader.h"
#include "reports/io/json.h"
#include "reports/views/table.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

Json file_of_one_run() {
  const Json row{{"name", "BM_sum"}, {"real_time", 20.0}, {"cpu_time", 19.0}, {"time_unit", "us"}};
  return {{"context",
           {{"date", "2026-11-23T18:33:28+02:00"},
            {"executable", "./build/sum_bench"},
            {"num_cpus", 4},
            {"cpu_scaling_enabled", false},
            {"library_build_type", "release"}}},
          {"benchmarks", Json::array({row})}};
}

TEST(GoogleBenchmarkContext, AContextMayLackEverything) {
  for (const Json& context : {Json::object(), Json{{"date", ""}}, Json{{"date", 3}},
                              Json{{"num_cpus", -1}, {"caches", Json::array()}},
                              Json{{"num_cpus", "8"}, {"caches", "none"}, {"executable", nullptr}},
                              Json{{"caches", {3, {{"level", "one"}}}}}}) {
    Json json = file_of_one_run();
    json["context"] = context;
    const Report report = from_google_benchmark(json);
    EXPECT_EQ(report.started_utc, "") << context;
    EXPECT_EQ(report.machine.cores_online, 0) << context;
    EXPECT_EQ(report.cases.at(0).scenario, "benchmarks") << context;
    EXPECT_TRUE(report.cases.at(0).statistics) << context;
    EXPECT_EQ(from_json(Json::parse(to_text(to_json(report)))), report) << context;
    EXPECT_THAT(to_table(report), HasSubstr("BM_sum")) << context;
  }
  Json json = file_of_one_run();
  json.erase("context");
  EXPECT_TRUE(is_google_benchmark(json));
  EXPECT_EQ(from_google_benchmark(json).machine.cpu_model, unknown_cpu);
}

TEST(GoogleBenchmarkContext, AnUnreadableDateIsUnknown) {
  Json json = file_of_one_run();
  json["context"]["date"] = "yesterday";
  const Report report = from_google_benchmark(json);
  EXPECT_EQ(report.started_utc, "");
  ASSERT_EQ(report.file_notes.size(), 1U);
  EXPECT_EQ(report.file_notes[0].what, "the time of the run is unknown");
  EXPECT_THAT(report.file_notes[0].first, HasSubstr("'yesterday' is not a valid time such as"));
}

TEST(GoogleBenchmarkContext, TakesTheCircumstancesOfTheRun) {
  EXPECT_THAT(
      from_google_benchmark(file_of_one_run()).machine.circumstances,
      ElementsAre(Pair("library_build_type", "release"), Pair("cpu_scaling_enabled", "false")));
  Json json = file_of_one_run();
  json["context"]["library_build_type"] = "debug";
  json["context"]["aslr_enabled"] = true;
  const Report report = from_google_benchmark(json);
  EXPECT_THAT(report.machine.circumstances,
              ElementsAre(Pair("library_build_type", "debug"), Pair("cpu_scaling_enabled", "false"),
                          Pair("aslr_enabled", "true")));
  EXPECT_THAT(to_table(report),
              AllOf(HasSubstr("! This run: Google Benchmark's library is a debug"),
                    HasSubstr("(aslr_enabled)"), Not(HasSubstr("(cpu_scaling_enabled)"))));
  EXPECT_THAT(to_table(from_google_benchmark(file_of_one_run())), Not(HasSubstr("! ")));
}

}  // namespace
}  // namespace parbench::report
