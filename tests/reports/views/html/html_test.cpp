// The page of reports: escaping, and that all of it is there without script.
#include "reports/views/html/html.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reports/views/html/html_data.h"
#include "reports/views/html/html_writer.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr WebAssets no_script{"body{}", ""};
constexpr WebAssets with_script{"body{}", "run();"};
constexpr auto hostile = "<script>alert(1)</script>\"'&<b>";

std::string page(const Report& report, const WebAssets& assets = no_script) {
  return to_html({{"run.json", report}}, assets);
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// Every text of a report that a page shows.
Report hostile_report() {
  Report report = sample_report();
  report.machine.host = hostile;
  report.machine.cpu_model = hostile;
  report.version = hostile;
  report.command_line = {hostile};
  report.devices = {{hostile, hostile, hostile, hostile, {}, {}, 1, {{hostile, hostile}}}};
  report.links = {{hostile, hostile, hostile, hostile}};
  report.model_notes = {{hostile, hostile}};
  report.answers = {{hostile, hostile, hostile, {hostile}}};
  report.findings = {{hostile, hostile, {hostile}, hostile, hostile, {}}};
  report.published = {{hostile, hostile, {{hostile, hostile}}, hostile, 1, 1}};
  for (CaseResult& c : report.cases) {
    c.scenario = hostile;
    c.strategy = hostile;
    c.parameters.emplace_back(hostile, c.name);
    c.notes = {{hostile, hostile}};
    c.kernels = {{hostile, hostile, 1}};
    c.conditions = {{hostile, 1, 1, 1, 1}};
    c.throttling = Throttling{1, 1, true, {{hostile, hostile, 1}}};
    if (!c.error.empty()) c.error = hostile;
  }
  return report;
}

TEST(HtmlEscaped, LeavesNoMarkup) {
  EXPECT_EQ(html_escaped("<a href=\"x\">'&'</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(html_escaped("12 µs\t×\n"), "12 µs\t×\n");
}

TEST(HtmlEscaped, ReplacesControlsThatHtmlForbids) {
  EXPECT_EQ(html_escaped(std::string_view("a\0b\x1b\x7f", 5)), "a\uFFFDb\uFFFD\uFFFD");
}

TEST(Html, PutsCasesOfSeveralReportsSideBySideTheLargestDifferenceFirst) {
  const auto with = [](double first, double second) {
    Report report = sample_report();
    report.cases = {measured_case("s", "first", {}, first, 5),
                    measured_case("s", "second", {}, second, 5)};
    return report;
  };
  Report third = with(1, 1);
  third.cases = {measured_case("s", "alone", {}, 1, 5)};
  const std::string text =
      to_html({{"a.json", with(1, 1)}, {"b.json", with(1.1, 3)}, {"c.json", third}}, no_script);
  const std::size_t begin = text.find("id=\"side-by-side\"");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = text.substr(begin, text.find("</section>", begin) - begin);
  ASSERT_NE(section.find("s/first"), std::string::npos);
  EXPECT_LT(section.find("s/second"), section.find("s/first"));
  EXPECT_THAT(section, AllOf(HasSubstr("a.json"), HasSubstr("c.json"), HasSubstr("3.00×"),
                             HasSubstr("1.10×"), Not(HasSubstr("alone"))));
  EXPECT_THAT(page(with(1, 1)), Not(HasSubstr("side-by-side")));
}

TEST(Html, DrawsCasesOfSeveralReportsAgainstTheFirst) {
  Report base = sample_report();
  base.cases = {measured_case("s", "first", {}, 1, 8), measured_case("s", "second", {}, 2, 8)};
  Report now = base;
  now.cases = {measured_case("s", "first", {}, 1, 8), measured_case("s", "second", {}, 3, 8),
               measured_case("s", "third", {}, 1, 8)};
  const std::string text =
      to_html({{"a.json", base}, {"b.json", now}, {"c.json", now}}, with_script);
  const std::string_view start = "id=\"parbench-changes\">";
  const std::size_t begin = text.find(start);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t data = begin + start.size();
  const Json picture = Json::parse(text.substr(data, text.find("</script>", data) - data));
  EXPECT_EQ(picture["cases"], Json({"s/second", "s/first", "s/third"}));
  ASSERT_THAT(picture["series"], SizeIs(2));
  EXPECT_EQ(picture["series"][0]["name"], "b.json");
  const Json& points = picture["series"][0]["points"];
  ASSERT_THAT(points, SizeIs(2)) << "the first report lacks the third case";
  EXPECT_EQ(points[0][0], 0);
  EXPECT_DOUBLE_EQ(points[0][1].get<double>(), 0.5);
  const Interval own = *now.cases[1].statistics->median_interval;
  EXPECT_NEAR(points[0][2].get<double>(), own.low / 2 - 1, 1e-5);
}

TEST(Html, MarksMediansSideBySideAsTheirTablesDo) {
  Report few = sample_report();
  few.cases = {measured_case("s", "a", {}, 1, 5)};
  few.cases[0].statistics->median_interval->confidence = 0.875;
  Report throttled = sample_report();
  throttled.cases = {measured_case("s", "a", {}, 1, 8)};
  throttled.cases[0].throttling = Throttling{8, 8, true, {{"cpu:1", "low clock", 8}}};
  const std::string text = to_html({{"few.json", few}, {"throttled.json", throttled}}, no_script);
  const std::size_t begin = text.find("id=\"side-by-side\"");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = text.substr(begin, text.find("</section>", begin) - begin);
  EXPECT_THAT(section, AllOf(HasSubstr("%°</td>"), HasSubstr(">1.000 s§ ± ")));
  EXPECT_THAT(section, AllOf(HasSubstr("<li>° fewer than 6 samples: this interval holds "
                                       "the median with 87.5% only"),
                             HasSubstr("<li>§ more than 10% of its samples were taken on a "
                                       "throttled device: low clock on cpu:1")));
  few.cases = {measured_case("s", "a", {}, 1, 8)};
  EXPECT_THAT(to_html({{"a.json", few}, {"b.json", few}}, no_script),
              Not(HasSubstr("fewer than 6 samples")));
}

TEST(ScriptJson, CanEndNeitherTheScriptNorALine) {
  const Json json{{"</script>", "<!-- & \u2028 \u2029 \" \\"}};
  const std::string text = script_json(json);
  for (const char* part : {"<", ">", "&", "\u2028", "\u2029"}) {
    EXPECT_THAT(text, Not(HasSubstr(part)));
  }
  EXPECT_EQ(Json::parse(text), json);
}

TEST(HtmlPage, SaysEverythingWithoutScript) {
  const Report report = sample_report();
  const std::string text = page(report);
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, AllOf(HasSubstr("without npm"), HasSubstr("What does it gain"),
                          HasSubstr("best split 5: 1.71×"), HasSubstr("How to read this")));
  EXPECT_EQ(count(text, "<tr"), 1 + report.cases.size() + 2);  // and the two of published figures
  EXPECT_THAT(text, AllOf(HasSubstr("633.7 ms"), HasSubstr("1.71× (1.69–1.73)"),
                          HasSubstr("speedup over single"), HasSubstr("94%"),
                          HasSubstr("75.7 images/s"), HasSubstr("✓ 2.0%")));
  EXPECT_THAT(text, AllOf(HasSubstr("out of memory on cpu:0: 41.2 GiB asked"),
                          HasSubstr("37 times the tolerance"), HasSubstr("--max-time")));
  EXPECT_THAT(text, AllOf(HasSubstr("bench-1"), HasSubstr("6.1.0-18-amd64"),
                          HasSubstr("oneDNN 2.6.3"), HasSubstr("after layer3.1")));
}

TEST(HtmlPage, ReportsProcessesThatDidNotEndWell) {
  EXPECT_THAT(page(sample_report()),
              HasSubstr("<p class=\"note\">Process 2 was ended by signal 11</p>"));
}

TEST(HtmlPage, IsForScreenReaders) {
  const std::string text = page(sample_report());
  EXPECT_THAT(text, AllOf(HasSubstr("<html lang=\"en\">"), HasSubstr("<caption>All cases of "),
                          HasSubstr("<th scope=\"col\">"), HasSubstr("<th scope=\"row\""),
                          HasSubstr("href=\"#results\"")));
}

TEST(HtmlPage, ShowsPublishedFiguresBesideThoseOfTheRun) {
  const std::string text = page(sample_report());
  // Three executions of 651.4 ms each.
  EXPECT_THAT(text, HasSubstr("<td class=\"text\">a write-up</td><td>2.430 s</td><td>1.954 s</td>"
                              "<td>1.24×</td>"));
  Report other = sample_report();
  other.published.front().parameters = {{"split", std::int64_t{11}}};
  EXPECT_THAT(page(other), HasSubstr("<td>2.430 s</td><td>not measured</td>"));
  other.published.clear();
  EXPECT_THAT(page(other), Not(HasSubstr("Published")));
}

TEST(HtmlPage, KeepsHostileNamesText) {
  const std::string text =
      to_html({{hostile, hostile_report()}, {hostile, sample_report()}}, with_script);
  EXPECT_EQ(count(text, "<script"), 3U);  // two kinds of data and the program
  EXPECT_EQ(count(text, "</script"), 3U);
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
  EXPECT_THAT(text, HasSubstr("&lt;script&gt;alert(1)"));
}

TEST(HtmlPage, ShowsNoControlsOfAReport) {
  const std::string controls = "a\u202Eb\x1b[2J\u009Bc";
  Report report = sample_report();
  report.machine.host = controls;
  report.answers.front().text = controls;
  for (CaseResult& c : report.cases) c.strategy = controls;
  const std::string text = to_html({{controls, report}, {controls, report}}, with_script);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\u202E")), Not(HasSubstr("\x1b")),
                          Not(HasSubstr("\u009B")), Not(HasSubstr("\\u001b"))));
  EXPECT_THAT(text, HasSubstr("a\uFFFDb\uFFFD[2J\uFFFDc"));
}

TEST(HtmlPage, ShowsWhatTimesDependOn) {
  const std::string text = page(sample_report());
  EXPECT_THAT(text, AllOf(HasSubstr("<dt>cpu:1 of pipeline</dt>"), HasSubstr(", NUMA node 1</dd>"),
                          HasSubstr("<dt>cpu:0 – cpu:1 of pipeline</dt>"
                                    "<dd>shared memory, different NUMA nodes</dd>")));
  EXPECT_THAT(text, HasSubstr("kernels: 53 convolution_forward on jit:avx512_core, "
                              "1 linear_forward on gemm:jit by heuristics\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("cpu:1: median clock 1900 MHz, lowest clock 1900 MHz, "
                                    "at most 88 °C, at most 140 W"),
                          HasSubstr("throttled samples: 1 of 14 (1 core temperature on cpu:1, "
                                    "1 low clock on cpu:1)")));
  EXPECT_THAT(text,
              AllOf(HasSubstr("CPU quota of 1.5 cores"), Not(HasSubstr("CPU time withheld"))));
  Report throttled = sample_report();
  throttled.cases[5].quota_lost = 0.2;
  EXPECT_THAT(page(throttled), HasSubstr("CPU quota: 20% of the CPU time withheld\n"));
}

TEST(HtmlPage, ListsWhatWasFoundBelowTheAnswer) {
  Report report = sample_report();
  report.findings = {{"pipeline",
                      "launch-bound",
                      {report.cases[3].name, report.cases[5].name},
                      "devices were idle for 79% of the time",
                      "launch it as a graph",
                      {}},
                     {"pipeline", "losses", {}, "of no case", "", {}}};
  const std::string text = page(report);
  EXPECT_THAT(text, HasSubstr("<li><strong>pipeline, split 3</strong>: devices were idle for 79% "
                              "of the time (2 cases). <span>Try: launch it as a graph.</span>"));
  EXPECT_THAT(text, Not(HasSubstr("of no case")));
}

TEST(HtmlPage, HasTheCallsOfProfiledCasesThoseOfTheAnswerFirst) {
  Report report = with_profiles(sample_report());
  EXPECT_THAT(page(report), AllOf(HasSubstr("gemm · layer1.0.conv1"), HasSubstr("ref:any"),
                                  Not(HasSubstr("csv-calls"))));
  const CaseResult measured = report.cases[1];
  report.cases.assign(14, measured);
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    report.cases[i].name = "pipeline/" + std::to_string(i);
    report.cases[i].parameters = {{"split", static_cast<std::int64_t>(i)}};
  }
  report.answers = {{.scenario = measured.scenario,
                     .question = "?",
                     .recommendations = {{.candidates = {{"split 13", "pipeline/13"}}}}}};
  const std::string long_page = page(report);
  EXPECT_EQ(count(long_page, "<caption>Calls of"), 12U);
  EXPECT_THAT(long_page, HasSubstr("2 cases more: parbench show --calls"));
  EXPECT_LT(long_page.find("Calls of " + measured.strategy + ", split 13"),
            long_page.find("Calls of " + measured.strategy + ", split 0"));
}

TEST(HtmlPage, MarksThrottledCases) {
  Report report = sample_report();
  EXPECT_THAT(page(report), Not(HasSubstr(" ms§")));
  report.cases[5].throttling->flagged = true;
  EXPECT_THAT(page(report), AllOf(HasSubstr(">651.4 ms§ ± 0.5%</td>"),
                                  HasSubstr("<li>§ more than 10% of its samples were taken on a "
                                            "throttled device: core temperature on cpu:1")));
}

TEST(HtmlPage, ShowsWhetherCasesWereCaptured) {
  Report report = sample_report();
  for (CaseResult& c : report.cases) c.graph = true;
  EXPECT_THAT(page(report), HasSubstr("graph true"));
  report.cases.front().graph = false;
  EXPECT_THAT(page(report), HasSubstr("<th scope=\"col\">graph</th>"));
}

TEST(HtmlPage, HasAContentsListOfSeveralReports) {
  const std::string text =
      to_html({{"before.json", sample_report()}, {"after.json", sample_report()}}, no_script);
  for (const char* id : {"report-1", "report-2", "report-1-scenario-1", "report-2-scenario-1"}) {
    EXPECT_EQ(count(text, fmt::format("href=\"#{}\"", id)), 1U) << id;
    EXPECT_EQ(count(text, fmt::format("id=\"{}\"", id)), 1U) << id;
  }
  EXPECT_THAT(text, AllOf(HasSubstr("<h2>before.json</h2>"), HasSubstr("<h2>after.json</h2>")));
}

TEST(HtmlPage, ShowsAReportWithoutNumbers) {
  Report report = sample_report();
  std::erase_if(report.cases, [](const CaseResult& c) { return c.status == CaseStatus::measured; });
  report.answers.clear();
  report.complete = false;
  EXPECT_THAT(page(report), AllOf(HasSubstr("0 of 3 cases measured"), HasSubstr("<strong>failed"),
                                  HasSubstr("<strong>skipped")));
  report.cases.clear();
  EXPECT_THAT(page(report), HasSubstr("This report has no cases."));
}

TEST(HtmlPage, SaysWhatAMeasuredCaseLacks) {
  Report report = sample_report();
  report.cases[5].statistics.reset();
  EXPECT_THAT(page(report), HasSubstr("<strong>no statistics</strong>: measured, but the report"));
}

TEST(HtmlPage, TakesAtMostAMegabyteForAHundredCases) {
  Report report = sample_report();
  report.cases.clear();
  for (std::int64_t n = 0; n < 100; ++n) {
    CaseResult c = sample_report().cases[4];
    c.name += std::to_string(n);
    c.parameters.back().second = n;
    report.cases.push_back(std::move(c));
  }
  EXPECT_LT(page(report, built_in_web_assets()).size(), 1'000'000U);
}

TEST(PageData, HasTheMeasuredCasesAndTheParametersInWhichTheyDiffer) {
  const Json data = page_data({{"run.json", sample_report()}});
  ASSERT_EQ(data.size(), 1U);
  const Json& scenario = data[0];
  EXPECT_EQ(scenario["id"], "report-1-scenario-1");
  EXPECT_EQ(scenario["unit"], "images");
  EXPECT_THAT(scenario["baselines"].get<std::vector<std::string>>(), ElementsAre("single"));
  EXPECT_THAT(scenario["axes"].get<std::vector<std::string>>(), testing::Contains("split"));
  EXPECT_EQ(scenario["cases"].size(), 7U);  // three have no number
  const Json& fifth = scenario["cases"][4];
  EXPECT_EQ(fifth["row"], 4);
  EXPECT_EQ(fifth["time"].size(), 3U);
  EXPECT_DOUBLE_EQ(fifth["time"][0].get<double>(), 0.6337);
  EXPECT_EQ(fifth["samples"]["rounds"].size(), 14U);
  EXPECT_TRUE(scenario["cases"][0]["values"].back().is_null());  // single has no split
}

TEST(PageData, NamesTheUnitOfACaseThatHasAnother) {
  Report report = sample_report();
  report.cases = {measured_case("program", "BM_parse", {}, 1, 5),
                  measured_case("program", "BM_copy", {}, 1, 5)};
  report.cases[0].amount = 3;
  report.cases[0].amount_unit = "items";
  report.cases[1].amount = 12e9;
  report.cases[1].amount_unit = "B";
  const Json data = page_data({{"run.json", report}});
  EXPECT_EQ(data[0]["unit"], "items");
  EXPECT_FALSE(data[0]["cases"][0].contains("unit"));
  EXPECT_EQ(data[0]["cases"][1]["unit"], "B");
}

TEST(PageData, LeavesOutABoundThatIsNone) {
  Report report = sample_report();
  report.cases[0].efficiency = 1.2;
  const Json data = page_data({{"run.json", report}});
  EXPECT_FALSE(data[0]["cases"][0].contains("bound"));
  EXPECT_NEAR(data[0]["cases"][1]["bound"].get<double>(), 0.97 * 1.121, 5e-5);
}

}  // namespace
}  // namespace parbench::report
