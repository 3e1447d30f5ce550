// Runs that take their cases from a report: runs that are repeated, and the processes of a run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/sampling/described.h"
#include "reports/io/file.h"
#include "tests/bench/cli/parsing.h"

namespace parbench {
namespace {

using test::error_of;
using test::file_with;
using test::help_of;
using test::parse;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::TempDir;

report::Report report_of(const RunOptions& options, const std::vector<std::string>& cases) {
  report::Report report;
  report.version = "0";
  report.started_utc = "2020-01-01T00:00:00Z";
  report.options = named_values(flags_from(options));
  for (const std::string& name : cases) {
    report::CaseResult known;
    known.name = name;
    known.scenario = name.substr(0, name.find('/'));
    known.strategy = "single";
    known.dtype = "f32";
    known.parameters = {{"batch", std::int64_t{12}}};
    report.cases.push_back(known);
  }
  return report;
}

TEST(Rerun, CutsTheCasesOfAReportWhereTheyWereCut) {
  report::Report report =
      report_of(parse({"--scenario", "pipe"}), {"pipe/single/batch:12", "mat/alone/n:64"});
  report.cases[0].notes.emplace_back("cut at", "layer2.0");
  const std::string path = TempDir() + "cli_rerun_cut.json";
  report::write_report(path, report);
  const RunOptions again = parse({"--rerun", path});
  ASSERT_EQ(again.cases.size(), 2U);
  EXPECT_EQ(again.cases[0].cut, "layer2.0");
  EXPECT_EQ(again.cases[1].cut, "");
}

TEST(Rerun, RunsTheCasesOfAReportAgain) {
  const RunOptions first = parse({"--scenario", "pipe", "--preset", "published", "--split", "2",
                                  "--seed", "9", "--devices", "2", "--slowdown", "5", "--autotune",
                                  "--round-gradients", "--oversubscribe"});
  const std::string path = TempDir() + "cli_rerun.json";
  report::write_report(path, report_of(first, {"pipe/single/batch:12", "mat/alone/n:64"}));
  const RunOptions again = parse({"--rerun", path, "--max-time", "3"});
  ASSERT_EQ(again.cases.size(), 2U);
  EXPECT_EQ(again.cases[0].name, "pipe/single/batch:12");
  EXPECT_EQ(again.cases[0].spec.scenario, "pipe");
  EXPECT_EQ(again.cases[0].spec.strategy, "single");
  EXPECT_EQ(again.cases[0].spec.parameters.integer("batch"), 12);
  EXPECT_EQ(again.cases[1].name, "mat/alone/n:64");
  EXPECT_THAT(names_of(again.scenarios), ElementsAre("pipe", "mat"));
  EXPECT_EQ(again.preset, Preset::published);
  EXPECT_FALSE(again.precision_percent.has_value()) << "the published number of samples must stay";
  EXPECT_EQ(again.seed, 9U);
  EXPECT_EQ(again.devices, "2");
  EXPECT_TRUE(again.autotune);
  EXPECT_TRUE(again.round_gradients);
  EXPECT_TRUE(again.oversubscribe);
  EXPECT_FALSE(parse({"--rerun", path, "--autotune=false"}).autotune);
  EXPECT_EQ(again.max_time_seconds, 3);
  EXPECT_THAT(again.axes, ElementsAre(Pair("slowdown", ElementsAre(Value(5.0)))));
  EXPECT_THAT(error_of({"--rerun", path, "--split", "3"}),
              AllOf(HasSubstr("--split"), HasSubstr("--rerun")));
  EXPECT_THAT(error_of({"--rerun", path, "--scenario", "pipe"}), HasSubstr("--scenario"));
  EXPECT_THAT(error_of({"--rerun", path, "--graph"}),
              HasSubstr("--rerun cannot be combined with --graph"));
  EXPECT_FALSE(again.graph);
}

TEST(Rerun, KeepsThatARunCapturesGraphs) {
  const RunOptions first = parse({"--scenario", "pipe", "--graph"});
  const std::string path = TempDir() + "cli_graph.json";
  report::write_report(path, report_of(first, {"pipe/single/batch:12/graph:true"}));
  EXPECT_TRUE(parse({"--rerun", path}).graph);
  EXPECT_TRUE(parse({"--config", file_with(R"({"scenario": "pipe", "graph": true})")}).graph);
}

TEST(Rerun, RepeatsAProfileAsAProfile) {
  const std::string profiled = TempDir() + "cli_profile.json";
  report::write_report(profiled, report_of(parse({"--scenario", "pipe", "--for-profiler"}),
                                           {"pipe/single/batch:12"}));
  EXPECT_TRUE(parse({"--rerun", profiled}).for_profiler);
  EXPECT_FALSE(parse({"--rerun", profiled, "--for-profiler=false"}).for_profiler);
  EXPECT_FALSE(parse({"--rerun", profiled, "--precision", "2"}).for_profiler);
  const std::string sampled = TempDir() + "cli_no_profile.json";
  report::write_report(sampled, report_of(parse({"--scenario", "pipe", "--precision", "2"}),
                                          {"pipe/single/batch:12"}));
  EXPECT_TRUE(parse({"--rerun", sampled, "--for-profiler"}).for_profiler);
}

TEST(Rerun, RefusesWhatAProfileWouldNotHeed) {
  EXPECT_THAT(error_of({"--scenario", "pipe", "--for-profiler", "--precision", "1"}),
              HasSubstr("--for-profiler cannot be combined with --precision"));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--for-profiler", "--min-samples", "50"}),
              HasSubstr("--for-profiler cannot be combined with --min-samples"));
}

TEST(Rerun, RerunsWithTheSameFlagsOfGoogleBenchmark) {
  report::Report report = report_of(parse({"--scenario", "pipe"}), {"pipe/single/batch:12"});
  report.options.emplace_back("benchmark_repetitions", std::int64_t{7});
  report.options.emplace_back("benchmark_min_time", 0.25);
  const std::string path = TempDir() + "cli_repetitions.json";
  report::write_report(path, report);
  EXPECT_THAT(parse({"--rerun", path, "--benchmark_repetitions=3"}).benchmark_flags,
              ElementsAre("--benchmark_repetitions=7", "--benchmark_min_time=0.25",
                          "--benchmark_repetitions=3"))
      << "the last one counts";
  EXPECT_THAT(parse({"--rerun", path, "--precision", "2"}).benchmark_flags,
              ElementsAre("--benchmark_min_time=0.25"))
      << "a fixed number of samples would leave the precision without effect";
}

TEST(Rerun, RejectsReportsThatCannotBeRunAgain) {
  EXPECT_THAT(error_of({"--rerun", "/nowhere/r.json"}), HasSubstr("/nowhere/r.json"));
  EXPECT_THAT(error_of({"--rerun", file_with("{\"context\": {")}), HasSubstr("Rejects"));
  EXPECT_THAT(error_of({"--rerun", file_with("{}")}), HasSubstr("Rejects"));
  const RunOptions options = parse({"--scenario", "pipe"});
  const std::string empty = TempDir() + "cli_empty.json";
  report::write_report(empty, report_of(options, {}));
  EXPECT_THAT(error_of({"--rerun", empty}), HasSubstr("no cases"));
  const std::string foreign = TempDir() + "cli_foreign.json";
  report::write_report(foreign, report_of(options, {"gone/single"}));
  EXPECT_THAT(error_of({"--rerun", foreign}), HasSubstr("gone/single"));
}

TEST(Rerun, RejectsReportsOfAnotherSchemaVersion) {
  const RunOptions options = parse({"--scenario", "pipe"});
  report::Json file = report::to_json(report_of(options, {"pipe/single/batch:12"}));
  file["parbench"]["schema_version"] = report::schema_version + 1;
  EXPECT_THAT(error_of({"--rerun", file_with(file.dump())}), HasSubstr("schema"));
}

TEST(Rerun, SpreadsARunOverProcesses) {
  EXPECT_EQ(parse({"--scenario", "pipe"}).processes, 1);
  const RunOptions options = parse({"--scenario", "pipe", "--processes", "5"});
  EXPECT_EQ(options.processes, 5);
  const std::string path = TempDir() + "cli_processes.json";
  report::write_report(path, report_of(options, {"pipe/single/batch:12"}));
  EXPECT_EQ(parse({"--rerun", path}).processes, 5);
  EXPECT_EQ(parse({"--rerun", path, "--processes", "2"}).processes, 2);
  EXPECT_EQ(parse({"--rerun", path, "--for-profiler"}).processes, 1) << "a profile is one process";
  const std::string config = file_with("{\"scenario\": \"pipe\", \"processes\": 3}");
  EXPECT_EQ(parse({"--config", config}).processes, 3);
  for (const char* value : {"0", "-1", "2.5", "many", "1001"}) {
    EXPECT_THAT(error_of({"--scenario", "pipe", "--processes", value}),
                HasSubstr(fmt::format("--processes '{}'", value)));
  }
  EXPECT_THAT(error_of({"--scenario", "pipe", "--for-profiler", "--processes", "2"}),
              HasSubstr("--for-profiler cannot be combined with --processes"));
}

TEST(Rerun, OneOfSeveralProcessesIsNotForUsers) {
  EXPECT_THAT(help_of("run"), Not(HasSubstr("--process ")));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--process", "0"}),
              HasSubstr("--process is for the processes that --processes starts"));
  EXPECT_THAT(error_of({"--config", file_with("{\"scenario\": \"pipe\", \"process\": 0}")}),
              HasSubstr("is not a flag that a file can set; did you mean 'processes'?"));
  const std::string path = TempDir() + "cli_process.json";
  report::write_report(
      path, report_of(parse({"--scenario", "pipe", "--processes", "3"}), {"pipe/single/batch:12"}));
  EXPECT_EQ(parse({"--rerun", path, "--process", "2"}).process, 2);
  EXPECT_THAT(error_of({"--rerun", path, "--process", "3"}), HasSubstr("--process is for"));
}

/// The report of a run that was interrupted.
report::Report interrupted_report(const std::vector<std::string>& words) {
  report::Report report = report_of(parse(words), {"pipe/single/batch:12"});
  report.cases.front().stopped_because = "unfinished";
  return report;
}

TEST(Resume, TakesTheCasesOfAReportThatIsWrittenAgain) {
  const std::string path = TempDir() + "cli_resume.json";
  report::write_report(path, interrupted_report({"--scenario", "pipe", "--max-time", "3"}));
  const RunOptions options = parse({"--resume", path, "--precision", "2"});
  ASSERT_EQ(options.cases.size(), 1U);
  ASSERT_TRUE(options.resumed);
  EXPECT_EQ(options.report_path, path);
  EXPECT_EQ(options.max_time_seconds, 3);
  EXPECT_EQ(options.precision_percent, 2);
  EXPECT_EQ(parse({"--resume", path, "--report", "other.json"}).report_path, "other.json");
}

TEST(Resume, RefusesFlagsThatWouldChangeWhatIsMeasured) {
  const std::string path = TempDir() + "cli_resume_flags.json";
  report::write_report(path, interrupted_report({"--scenario", "pipe"}));
  const std::vector<std::vector<std::string>> excluded{{"--scenario", "pipe"},
                                                       {"--strategy", "single"},
                                                       {"--preset", "published"},
                                                       {"--dtype", "bf16"},
                                                       {"--graph"},
                                                       {"--devices", "2"},
                                                       {"--rerun", path},
                                                       {"--autotune"},
                                                       {"--round-gradients"},
                                                       {"--seed", "2"},
                                                       {"--processes", "2"},
                                                       {"--for-profiler"},
                                                       {"--split", "3"},
                                                       {"--slowdown", "5"}};
  for (std::vector<std::string> words : excluded) {
    const std::string flag = words.front();
    words.insert(words.begin(), {"--resume", path});
    EXPECT_THAT(error_of(words), HasSubstr("--resume cannot be combined with " + flag + ":"));
  }
}

TEST(Resume, RefusesReportsThatNoSampleCanBeAddedTo) {
  const std::string path = TempDir() + "cli_not_resumable.json";
  const auto error_with = [&](const report::Report& report) {
    report::write_report(path, report);
    return error_of({"--resume", path});
  };
  report::Report report = interrupted_report({"--scenario", "pipe"});
  report.processes.resize(2);
  EXPECT_THAT(error_with(report),
              HasSubstr("has several processes; --rerun measures its cases again"));
  EXPECT_THAT(error_with(interrupted_report({"--scenario", "pipe", "--for-profiler"})),
              HasSubstr("was measured for a profiler; --rerun"));
  report = interrupted_report({"--scenario", "pipe"});
  report.cases.front().status = report::CaseStatus::measured;
  report.cases.front().stopped_because = "precision";
  EXPECT_THAT(error_with(report), HasSubstr("is complete: nothing is left to measure; --rerun"));
}

}  // namespace
}  // namespace parbench
