// Files of other programs as people have them: with log lines, of several runs, of other tools.
#include "reports/io/report_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/json.h"
#include "reports/statistics/statistics.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// A run with three repetitions around the given time.
Json run(double microseconds, int minute = 0) {
  Json rows = Json::array();
  for (int i = 0; i < 3; ++i) {
    rows.push_back({{"name", "BM_sum"},
                    {"repetition_index", i},
                    {"iterations", 10},
                    {"real_time", microseconds + 0.1 * i},
                    {"cpu_time", microseconds},
                    {"time_unit", "us"}});
  }
  return {{"context",
           {{"date", fmt::format("2026-11-20T10:{:02}:00+00:00", minute)},
            {"executable", "./sum"},
            {"num_cpus", 8}}},
          {"benchmarks", std::move(rows)}};
}

Report read(const std::string& text) {
  std::istringstream stream(text);
  return report_in(stream, {});
}

std::string refusal_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  return text.replace(text.find(old), old.size(), with);
}

std::vector<std::string> notes_of(const Report& report) {
  std::vector<std::string> notes;
  for (const FileNote& note : report.file_notes) notes.push_back(note.what + ": " + note.first);
  return notes;
}

/// The report apart from the notes on its file.
Report without_notes(Report report) {
  report.file_notes.clear();
  return report;
}

TEST(ReportText, ReadsFilesWithTextAroundThem) {
  const Report clean = read(run(20).dump(2));
  EXPECT_THAT(clean.file_notes, IsEmpty());
  for (const std::string& text :
       {"[driver] is slow\n" + run(20).dump(2), run(20).dump(2) + "\nDestroyed 3 pools, 0 leaks\n",
        "2026-11-20 WARN {thread 1}\n\n" + run(20).dump() + " done"}) {
    const Report report = read(text);
    EXPECT_EQ(without_notes(report), clean) << text;
    ASSERT_EQ(report.file_notes.size(), 1U) << text;
    EXPECT_EQ(report.file_notes[0].what, "text that is not JSON was left out");
  }
}

TEST(ReportText, NamesTheLineWithinTheJsonThatIsNone) {
  const std::string text =
      replaced(run(20).dump(2), "\"benchmarks\"", "-- LOG(0): no\n\"benchmarks\"");
  EXPECT_THAT(refusal_of(text), AllOf(HasSubstr("is not JSON: line 7, '-- LOG(0): no'"),
                                      HasSubstr("--benchmark_out=FILE"), Not(HasSubstr("\n"))));
  EXPECT_THAT(refusal_of("[driver]\n\n" + text), HasSubstr("line 9, '-- LOG(0): no'"))
      << "as it is counted in the file";
  EXPECT_THAT(refusal_of(replaced(run(20).dump(), "./sum", "C:\\Users\\sum")),
              AllOf(HasSubstr("line 1"), HasSubstr("two backslashes")));
  EXPECT_THAT(refusal_of(replaced(run(20).dump(2), "  ]\n}", "")), HasSubstr("truncated"));
}

TEST(ReportText, ReadsWhatIsAlmostJson) {
  const Report clean = read(run(20).dump(2));
  const Report comma = read(replaced(run(20).dump(), "}]}", "},],}"));
  EXPECT_EQ(without_notes(comma), clean);
  EXPECT_THAT(notes_of(comma), ElementsAre("commas before closing brackets were left out: line 1"));
  const Report nan = read(replaced(run(20).dump(), "\"iterations\"", "\"c\":nan,\"iterations\""));
  EXPECT_EQ(without_notes(nan), clean);
  EXPECT_THAT(notes_of(nan),
              ElementsAre("numbers that are not finite were read as missing: line 1, 'nan'"));
  const Report infinite = read(replaced(run(20).dump(), "\"real_time\":20.1", "\"real_time\":inf"));
  EXPECT_EQ(infinite.cases.at(0).status, CaseStatus::failed);
}

TEST(ReportText, ReadsNamesThatAreNotUtf8) {
  const Report report = read(replaced(run(20).dump(), "./sum", "./s\xFCm"));
  EXPECT_EQ(report.cases.at(0).scenario, "süm");
  EXPECT_THAT(notes_of(report),
              ElementsAre("bytes that are not UTF-8 were read as Latin-1: line 1"));
}

TEST(ReportText, ReadsCountersThatAreNamedLikeFields) {
  std::string text = run(20).dump();
  const std::string end = R"("time_unit":"us"})";
  for (std::size_t at = 0; (at = text.find(end, at)) != std::string::npos; at += end.size()) {
    text.insert(at + end.size() - 1, R"(,"iterations":12.5)");
  }
  const Report report = read(text);
  EXPECT_EQ(report.cases.at(0).samples.at(0).iterations, 10);
  ASSERT_EQ(report.file_notes.size(), 1U);
  EXPECT_EQ(report.file_notes[0].count, 3);
  EXPECT_EQ(report.file_notes[0].first, "'iterations' in benchmarks[0]");
}

TEST(ReportText, ReportsOfParbenchAreReadStrictly) {
  const std::string text = to_text(to_json(sample_report()));
  EXPECT_EQ(read(text), sample_report());
  EXPECT_THAT(refusal_of(replaced(text, "\"cases\"", "\"version\": \"1\", \"cases\"")),
              HasSubstr("the key 'version' twice"));
  const Report logged = read("[driver] is slow\n" + text);
  EXPECT_EQ(without_notes(logged), sample_report());
}

TEST(ReportText, PoolsTheRunsInAFile) {
  const std::vector<std::string> texts{
      run(20, 1).dump(2) + run(22, 0).dump(2) + '\n' + run(24, 2).dump(2),
      run(20, 1).dump() + '\n' + run(22, 0).dump() + '\n' + run(24, 2).dump() + '\n',
      Json::array({run(20, 1), run(22, 0), run(24, 2)}).dump(1),
      "log\n" + run(20, 1).dump() + "\n{\"level\": \"info\"}\n" + run(22, 0).dump() + "\n-\n" +
          run(24, 2).dump()};
  for (const std::string& text : texts) {
    const Report report = read(text);
    ASSERT_EQ(report.cases.size(), 1U) << text;
    const CaseResult& c = report.cases[0];
    EXPECT_EQ(c.samples.size(), 9U);
    EXPECT_EQ(process_medians(c.samples).size(), 3U);
    EXPECT_DOUBLE_EQ(c.statistics->median, 22.1e-6);
    EXPECT_EQ(report.started_utc, "2026-11-20T10:00:00Z") << "of the earliest";
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(notes_of(report).back(), "the runs in the file were pooled as processes: 3 runs");
  }
  EXPECT_THAT(refusal_of(run(20).dump() + run(22).dump().substr(0, 300)), HasSubstr("truncated"))
      << "rather than one of two runs";
}

TEST(ReportText, ReadsListsOfRunsWithDuplicateKeys) {
  std::string text = Json::array({run(20, 1), run(22, 0)}).dump();
  text = replaced(text, "\"iterations\":10", "\"iterations\":10,\"iterations\":12.5");
  const Report report = read(text);
  EXPECT_EQ(report.cases.at(0).samples.size(), 6U);
  EXPECT_THAT(notes_of(report),
              ElementsAre(HasSubstr("duplicate keys: the first value was used: 'iterations' in "
                                    "[0].benchmarks[0]"),
                          HasSubstr("2 runs")));
}

TEST(ReportText, ReadsListsOfReportsOfParbench) {
  Report later = sample_report();
  later.started_utc = "2026-11-20T10:00:00Z";
  const Report report = read(Json::array({to_json(sample_report()), to_json(later)}).dump());
  EXPECT_EQ(notes_of(report).back(), "the runs in the file were pooled as processes: 2 runs");
  EXPECT_EQ(report.cases.size(), sample_report().cases.size());
}

TEST(ReportText, NamesTheRunThatIsWrong) {
  Json wrong = run(22);
  wrong["benchmarks"][1].erase("name");
  EXPECT_THAT(refusal_of(run(20).dump() + "\n" + wrong.dump() + "\n"),
              HasSubstr("run in line 2: benchmarks[1].name: is missing"));
  EXPECT_THAT(refusal_of(Json::array({run(20), wrong}).dump()),
              HasSubstr("run 2 of the list: benchmarks[1].name: is missing"));
  EXPECT_THAT(refusal_of("log\n" + wrong.dump()), StartsWith("benchmarks[1].name: is missing"));
}

TEST(ReportText, ReadsARunWithCsvAroundIt) {
  const std::string csv = "name,iterations,real_time,cpu_time,time_unit\n\"BM_sum\",1,2,3,ns\n";
  EXPECT_EQ(without_notes(read(csv + run(20).dump())), read(run(20).dump()));
}

TEST(ReportText, ReadsARunWithANumberAfterIt) {
  const Report report = read(run(20).dump() + "\n0");
  EXPECT_THAT(notes_of(report), ElementsAre("text that is not JSON was left out: line 2, '0'"));
}

TEST(ReportText, LeavesOutJsonOfLogs) {
  const Report report = read("{\"level\": \"info\"}\n" + run(20).dump());
  EXPECT_THAT(notes_of(report), ElementsAre("left out objects without benchmarks: line 1"));
  EXPECT_THAT(refusal_of("{\"level\": \"info\"}\n{\"level\": \"info\"}\n"),
              AllOf(HasSubstr("is not JSON: line 2"),
                    HasSubstr("or name a report that a run has written, such as reports/runs/")));
  EXPECT_THAT(refusal_of("{\"level\": \"info\"}"), HasSubstr("no \"parbench\" object"));
}

TEST(ReportText, RecognisesFilesOfOtherPrograms) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"hyperfine", R"({"results":[{"command":"gzip","mean":0.1,"times":[0.1]}]})"},
      {"pytest-benchmark",
       R"({"machine_info":{},"commit_info":{},"benchmarks":[{"name":"t","stats":{}}],"version":"4"})"},
      {"JMH", R"([{"jmhVersion":"1.37","benchmark":"B.m","primaryMetric":{"score":1}}])"},
      {"nvbench", R"({"meta":{"argv":["a"]},"devices":[],"benchmarks":[{"states":[]}]})"},
      {"androidx.benchmark",
       R"({"context":{"build":{"fingerprint":"x"}},"benchmarks":[{"name":"s","className":"C","metrics":{}}]})"},
      {"BenchmarkDotNet", R"({"Title":"t","HostEnvironmentInfo":{},"Benchmarks":[]})"},
      {"nanobench", R"json({"results":[{"title":"t","name":"n","median(elapsed)":1}]})json"},
      {"Criterion",
       R"({"mean":{"point_estimate":1},"median":{"confidence_interval":{}},"slope":null})"}};
  for (const auto& [program, text] : files) {
    EXPECT_THAT(refusal_of(text), AllOf(HasSubstr("is a file of "), HasSubstr(program),
                                        HasSubstr("parbench reads its own reports"),
                                        HasSubstr("--benchmark_out=FILE"), Not(HasSubstr("\n"))));
  }
  EXPECT_THAT(refusal_of("log\n" + files[0].second), HasSubstr("is a file of hyperfine"));
  EXPECT_THAT(
      refusal_of("name,iterations,real_time,cpu_time,time_unit,label\n\"BM_sum\",1,2,3,ns,\n"),
      AllOf(HasSubstr("is a CSV file of Google Benchmark"),
            HasSubstr("--benchmark_out_format=json")));
}

}  // namespace
}  // namespace parbench::report
