// The text at the end of a run.
#include "reports/views/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "reports/io/json.h"
#include "reports/text/text.h"
#include "reports/views/table_parts.h"
#include "tests/reports/sample.h"
#include "tests/reports/views/lines.h"

namespace parbench::report {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The display column at which a part of a line starts.
std::size_t column_of(const std::string& line, const std::string& part) {
  return display_width(line.substr(0, line.find(part)));
}

TEST(Table, ShowsACaseWithAllItsNumbers) {
  const std::string row = line_with(to_table(sample_report()), "633.7 ms");
  EXPECT_THAT(row, AllOf(StartsWith("pipeline"), HasSubstr(" 5 "), HasSubstr("± 0.5%"),
                         HasSubstr(" 14 "), HasSubstr(" 75.7 "), HasSubstr("1.71× (1.69–1.73)"),
                         HasSubstr("94%"), HasSubstr("1.36 GiB")));
}

TEST(Table, ConstantParametersStandAboveAndVaryingOnesInColumns) {
  const std::string text = to_table(sample_report());
  EXPECT_THAT(text, HasSubstr("f32 · model resnet50 · batch 48 · image 128 · on cpu:0, cpu:1\n"));
  Report sharing = sample_report();
  for (Device& device : sharing.devices) device.cores = {0, 1};
  EXPECT_THAT(to_table(sharing), HasSubstr("on cpu:0, cpu:1, which share 2 cores"));
  const std::string title = line_with(text, "strategy");
  EXPECT_THAT(title, AllOf(HasSubstr("split"), Not(HasSubstr("batch"))));
}

TEST(Table, NamesTheLimitOfTheInstructionSet) {
  Report report = sample_report();
  EXPECT_THAT(to_table(report), Not(HasSubstr("GOMP_SPINCOUNT")));
  report.machine.environment.emplace_back("DNNL_MAX_CPU_ISA", "AVX2");
  EXPECT_THAT(to_table(report), HasSubstr("DNNL_MAX_CPU_ISA=AVX2"));
}

TEST(Table, SaysWhatWasCaptured) {
  Report report = sample_report();
  EXPECT_THAT(to_table(report), Not(HasSubstr("graph")));
  for (CaseResult& c : report.cases) c.graph = true;
  EXPECT_THAT(to_table(report), HasSubstr("f32 · graph true · model resnet50"));
  report.cases.front().graph = false;
  EXPECT_THAT(line_with(to_table(report), "strategy"), HasSubstr("graph"));
}

TEST(Table, AValueThatAllRowsOfSomeStrategiesShareStandsAboveWithTheirNames) {
  const auto pipeline = [](std::int64_t split, const char* partition) {
    return measured_case("pipeline", "pipeline", {{"split", split}, {"partition", partition}}, 1e-3,
                         5);
  };
  const CaseResult single = measured_case("pipeline", "single", {}, 2e-3, 5);
  const std::string alike =
      to_table(report_of({single, pipeline(3, "published"), pipeline(5, "published")}));
  EXPECT_THAT(alike, HasSubstr("\nf32\npipeline: partition published\n"));
  EXPECT_THAT(line_with(alike, "strategy"), AllOf(HasSubstr("split"), Not(HasSubstr("partition"))));
  const std::string differing =
      to_table(report_of({single, pipeline(3, "published"), pipeline(3, "balanced")}));
  EXPECT_THAT(differing, HasSubstr("\nf32\npipeline: split 3\n"));
  EXPECT_THAT(line_with(differing, "2.000 ms"), HasSubstr("–"));
  EXPECT_THAT(differing, AllOf(HasSubstr(" published "), HasSubstr(" balanced ")));
}

TEST(Table, NamesTheFewerOfTheStrategiesThatAValueAppliesToOrNot) {
  const auto row = [](const char* strategy, NamedValues parameters) {
    return measured_case("pipeline", strategy, std::move(parameters), 1e-3, 5);
  };
  const std::int64_t two = 2;
  const std::string text = to_table(report_of(
      {row("single", {{"batch", two}}),
       row("model-parallel", {{"batch", two}, {"devices", two}, {"partition", "published"}}),
       row("pipeline", {{"batch", two},
                        {"devices", two},
                        {"partition", "published"},
                        {"schedule", "gpipe"}})}));
  EXPECT_THAT(text, HasSubstr("\nf32 · batch 2\n"
                              "all but single: devices 2 · partition published\n"
                              "pipeline: schedule gpipe\n"));
}

TEST(Table, AParameterOfSomeRowsOfAStrategyHasAColumnUnlessAnotherOneDecidesIt) {
  const auto row = [](const char* model, const char* image, double seconds) {
    NamedValues values{{"model", model}};
    if (image != nullptr) values.emplace_back("image", image);
    return measured_case("pipeline", "single", values, seconds, 5);
  };
  const CaseResult toy = row("toy", nullptr, 1e-3);
  const std::string decided = to_table(report_of({toy, row("resnet50", "64", 2e-3)}));
  EXPECT_THAT(decided, HasSubstr("\nmodel resnet50: image 64\n"));
  EXPECT_THAT(line_with(decided, "strategy"), AllOf(HasSubstr("model"), Not(HasSubstr("image"))));
  const std::string open =
      to_table(report_of({toy, row("resnet50", "64", 2e-3), row("resnet50", "32", 3e-3)}));
  EXPECT_THAT(line_with(open, "strategy"), AllOf(HasSubstr("model"), HasSubstr("image")));
  EXPECT_THAT(line_with(open, "1.000 ms"), HasSubstr("–"));
}

TEST(Table, ColumnsAlignByDisplayWidth) {
  const std::string text = to_table(sample_report());
  const std::string slow = line_with(text, "1.083 s");
  const std::string fast = line_with(text, "633.7 ms");
  EXPECT_EQ(column_of(slow, "±"), column_of(fast, "±"));
  EXPECT_EQ(display_width(slow), display_width(fast));
  EXPECT_EQ(display_width(line_with(text, "───")), display_width(slow));
}

TEST(Table, FitsIntoATerminal) {
  Report report = sample_report();
  report.cases[4].hidden_parameters.clear();
  for (const std::string& line : lines_of(to_table(report))) {
    EXPECT_LE(display_width(line), 110U) << line;
  }
}

TEST(Table, NamesTheBaseline) {
  const std::string text = to_table(sample_report());
  EXPECT_THAT(line_with(text, "strategy"), HasSubstr("speedup over single"));
  EXPECT_THAT(line_with(text, "1.083 s"), AllOf(StartsWith("single"), HasSubstr("baseline")));
}

TEST(Table, EachSpeedupNamesItsBaselineWhereTheyDiffer) {
  CaseResult alone = measured_case("matmul", "alone", {}, 1e-3, 8);
  CaseResult sequential = measured_case("matmul", "sequential", {}, 2e-3, 8);
  CaseResult streams = measured_case("matmul", "streams", {}, 1.1e-3, 8);
  CaseResult concurrent = measured_case("matmul", "concurrent", {}, 1.2e-3, 8);
  streams.speedup = Ratio{0.91, Interval{0.90, 0.92, 0.96}, alone.name};
  concurrent.speedup = Ratio{1.67, Interval{1.66, 1.68, 0.96}, sequential.name};
  const std::string text = to_table(report_of({alone, sequential, streams, concurrent}));
  EXPECT_THAT(line_with(text, "1.100 ms"), HasSubstr("0.91× (0.90–0.92) alone"));
  EXPECT_THAT(line_with(text, "1.200 ms"), HasSubstr("1.67× (1.66–1.68) sequential"));
  EXPECT_THAT(line_with(text, "1.000 ms"), HasSubstr("baseline"));
  EXPECT_THAT(line_with(text, "strategy"),
              AllOf(HasSubstr("speedup over"), Not(HasSubstr("sequ"))));
}

TEST(Table, CasesWithoutNumberHaveTheirReasonBelow) {
  const std::string text = to_table(sample_report());
  const std::string failed = line_with(text, "failed (1)");
  EXPECT_THAT(failed, AllOf(HasSubstr("8+20+20"), Not(HasSubstr("%")), Not(HasSubstr("GiB"))));
  EXPECT_THAT(text, HasSubstr("\n(1) gradient of layer4.0.conv2.weight differs"));
  EXPECT_THAT(text, HasSubstr("\n(2) out of memory on cpu:0"));
  EXPECT_THAT(text, Not(HasSubstr("(3)")));  // both skipped cases share the reason
  const auto lines = lines_of(text);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const auto& line) { return line.ends_with("skipped (2)"); }),
            2);
}

TEST(Table, NamesCasesThatTheTimeDidNotSufficeFor) {
  CaseResult left_out = measured_case("selftest", "parallel", {}, 0.5, 6);
  left_out.status = CaseStatus::not_run;
  left_out.samples.clear();
  left_out.statistics.reset();
  left_out.stopped_because = "total-time";
  left_out.error = "out of time";
  Report report = report_of({measured_case("selftest", "spin", {}, 1.0, 6), left_out});
  report.complete = true;
  report.processes.clear();
  const std::string text = to_table(report);
  EXPECT_THAT(text, HasSubstr("not measured (1)"));
  EXPECT_THAT(text, HasSubstr("\n(1) out of time"));
  EXPECT_THAT(text, HasSubstr("\n1 of 2 cases measured, 1 not measured: out of time"));
  EXPECT_FALSE(ended_early(report));
}

TEST(Table, AccountsForAllOfTheTime) {
  Report report = report_of({measured_case("selftest", "spin", {}, 1.0, 6)});
  report.duration_seconds = 100;
  report.sampling_seconds = 50;
  report.task_cost_seconds = 10;
  EXPECT_THAT(counts_text(report),
              EndsWith(": 50% in samples and warm-up, 10% measuring tasks alone"))
      << "a report of an earlier version";
  report.sampling_seconds = 0.4;
  EXPECT_THAT(counts_text(report), EndsWith("1 min 40 s: 10% measuring tasks alone"));
  report.sampling_seconds = 50;
  report.preparation_seconds = 20;
  report.verification_seconds = 12;
  report.profiling_seconds = 0.1;
  EXPECT_THAT(counts_text(report),
              EndsWith("10% measuring tasks alone, 20% preparation, 12% verification, 8% other"))
      << "less than half a percent of profiling";
}

TEST(Table, MarksSamplingThatEndedEarlyByReason) {
  Report report = sample_report();
  std::string text = to_table(report);
  EXPECT_THAT(line_with(text, "742.1 ms"), HasSubstr("742.1 ms*"));
  EXPECT_THAT(text, HasSubstr("\n* sampling ended at the time limit of one case"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("†")), Not(HasSubstr("‡"))));
  report.cases[3].stopped_because = "total-time";
  text = to_table(report);
  EXPECT_THAT(line_with(text, "742.1 ms"), HasSubstr("742.1 ms‡"));
  EXPECT_THAT(text, HasSubstr("\n‡ sampling ended at the time limit of the whole run"));
  EXPECT_THAT(text, Not(HasSubstr("*")));
  report.cases[3].stopped_because = "device lost";
  text = to_table(report);
  EXPECT_THAT(line_with(text, "742.1 ms"), HasSubstr("742.1 ms‖"));
  EXPECT_THAT(text, HasSubstr("\n‖ sampling ended when a device was lost in another case"));
  report.cases[3].stopped_because = "unfinished";
  text = to_table(report);
  EXPECT_THAT(line_with(text, "742.1 ms"), HasSubstr("742.1 ms†"));
  EXPECT_THAT(text, HasSubstr("\n† sampling was not finished when the run or its process ended"));
}

TEST(Table, MarksIntervalsOfLowConfidence) {
  Report report = sample_report();
  EXPECT_THAT(to_table(report), Not(HasSubstr("°")));
  report.cases[2].statistics->median_interval->confidence = 0.75;
  report.cases[3].statistics->median_interval->confidence = 0.9375;
  report.cases[4].speedup->interval->confidence = 0.75;
  const std::string text = to_table(report);
  EXPECT_THAT(line_with(text, "1.034 s"), HasSubstr("%°"));
  EXPECT_THAT(line_with(text, "742.1 ms"), HasSubstr("%°"));
  EXPECT_THAT(line_with(text, "633.7 ms"), AllOf(HasSubstr(")°"), Not(HasSubstr("%°"))));
  EXPECT_THAT(line_with(text, "1.083 s"), Not(HasSubstr("°")));
  EXPECT_EQ(column_of(line_with(text, "742.1 ms"), "±"),
            column_of(line_with(text, "633.7 ms"), "±"));
  EXPECT_THAT(text, HasSubstr("\n° fewer than 6 samples: this interval holds the median with 75% "
                              "or 93.75% only\n"));
}

TEST(Table, ShowsProcessesAndTheirSamples) {
  CaseResult even = measured_case("selftest", "spin", {}, 1.0, 6);
  CaseResult odd = measured_case("selftest", "parallel", {}, 0.5, 6);
  for (std::size_t i = 0; i < 6; ++i) {
    even.samples[i].process = static_cast<int>(i / 2);
    odd.samples[i].process = i < 4 ? 0 : 1;
  }
  odd.statistics->median_interval = {0.4, 0.6, 0.5};
  Report report = report_of({even, odd});
  report.processes = {{}, {}, {}};
  report.processes[1].error = "was ended by signal 9 (Killed)\nout of patience";
  const std::string text = to_table(report);
  EXPECT_THAT(line_with(text, "1.000 s"), EndsWith(" 3×2"));
  EXPECT_THAT(line_with(text, "500.0 ms"), EndsWith(" 2×2–4"));
  EXPECT_THAT(text, HasSubstr("\nn: processes × samples in each\nMedians, intervals and ratios are "
                              "those of the processes' medians.\n"));
  const std::string at_30_columns = to_table(report, {.width = 30});
  ASSERT_THAT(at_30_columns, HasSubstr("not shown at 30 columns: n"));
  EXPECT_THAT(at_30_columns, AllOf(Not(HasSubstr("\nn: ")), HasSubstr("\nMedians, intervals and")));
  EXPECT_THAT(text,
              HasSubstr("\n° fewer than 6 processes: this interval holds the median with 50%"));
  EXPECT_THAT(text, HasSubstr("\n! Process 2 was ended by signal 9 (Killed)\n  out of patience\n"));
  EXPECT_THAT(text, HasSubstr("2 of 2 cases measured in 3 processes"));
}

TEST(Table, ColumnsWithoutContentAreLeftOut) {
  const std::string text =
      to_table(report_of({measured_case("selftest", "spin", {{"duration", "1ms"}}, 1e-3, 5)}));
  EXPECT_THAT(line_with(text, "strategy"),
              AllOf(HasSubstr("median"), Not(HasSubstr("speedup")), Not(HasSubstr("bound")),
                    Not(HasSubstr("throughput")), Not(HasSubstr("memory"))));
}

TEST(Table, RatesOfDifferentPrefixesKeepTheirUnits) {
  CaseResult small = measured_case("matmul", "alone", {{"n", std::int64_t{64}}}, 1e-4, 5);
  CaseResult large = measured_case("matmul", "alone", {{"n", std::int64_t{4096}}}, 1, 5);
  small.amount_unit = large.amount_unit = "FLOP";
  small.amount = 5e7;
  large.amount = 1.4e12;
  const std::string text = to_table(report_of({small, large}));
  EXPECT_THAT(text, AllOf(HasSubstr("500 GFLOP/s"), HasSubstr("1.40 TFLOP/s")));
  EXPECT_THAT(line_with(text, "strategy"), HasSubstr("throughput"));
}

TEST(Table, OneSampleHasNoInterval) {
  const std::string text = to_table(report_of({measured_case("selftest", "spin", {}, 1e-3, 1)}));
  EXPECT_THAT(line_with(text, "1.000 ms"), Not(HasSubstr("±")));
}

TEST(Table, ScenariosHaveATableEach) {
  const std::string text = to_table(report_of({measured_case("branch", "chain", {}, 1e-3, 5),
                                               measured_case("matmul", "alone", {}, 1e-3, 5)}));
  EXPECT_LT(text.find("\nbranch\n"), text.find("\nmatmul\n"));
  EXPECT_NE(text.find("\nbranch\n"), std::string::npos);
}

TEST(Table, NeverShowsNanOrInfinity) {
  Report report = sample_report();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (CaseResult& c : report.cases) {
    if (!c.statistics) continue;
    c.statistics->median = nan;
    c.statistics->median_interval = Interval{nan, nan, nan};
    c.speedup = Ratio{std::numeric_limits<double>::infinity(), Interval{nan, nan, nan}, "x"};
    c.efficiency = nan;
  }
  report.duration_seconds = nan;
  std::string text = to_table(report);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::tolower(c)); });
  EXPECT_THAT(text, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
}

TEST(Table, ShowsNoBoundThatTheMeasurementDisproves) {
  Report report = sample_report();
  ASSERT_TRUE(report.cases[1].bound.has_value());
  report.cases[1].efficiency = 2.81;
  const std::string text = to_table(report);
  EXPECT_THAT(text, Not(HasSubstr("281%")));
  EXPECT_THAT(text, HasSubstr("\n¶ no bound: the tasks took longer alone than the whole case"));
  report.cases[1].efficiency = 1.04;
  EXPECT_THAT(to_table(report), AllOf(HasSubstr("104%"), Not(HasSubstr("¶"))));
}

/// Samples of two modes: the tasks were measured alone in the slow one.
TEST(Table, ShowsNoBoundThatManySamplesUndercutByFar) {
  Report report = report_of({measured_case("matmul", "alone", {}, 1.0, 8)});
  CaseResult& one = report.cases.front();
  one.bound.emplace().seconds = 0.91;
  one.efficiency = 0.91;
  const auto row = [&] { return line_with(to_table(report), "alone"); };
  EXPECT_THAT(row(), EndsWith(" 91%"));
  for (const std::size_t sample : {0, 1}) one.samples[sample].seconds = 0.7;
  EXPECT_THAT(row(), EndsWith(" 91%")) << "a quarter";
  one.samples[2].seconds = 0.78;
  EXPECT_THAT(row(), EndsWith(" 91%")) << "14% less";
  one.samples[2].seconds = 0.77;
  EXPECT_THAT(row(), EndsWith(" ¶"));
  EXPECT_THAT(to_table(report), HasSubstr("\n¶ no bound: the tasks took longer alone than"));
}

TEST(Table, MarksCasesOnThrottledDevices) {
  Report report = sample_report();
  EXPECT_THAT(to_table(report), Not(HasSubstr("§"))) << "one sample of 14 is no flag";
  ASSERT_TRUE(report.cases[5].throttling.has_value());
  report.cases[5].throttling->flagged = true;
  const std::string text = to_table(report);
  EXPECT_THAT(line_with(text, "651.4 ms"), HasSubstr("651.4 ms§"));
  EXPECT_THAT(line_with(text, "633.7 ms"), Not(HasSubstr("§")));
  EXPECT_EQ(column_of(line_with(text, "651.4 ms"), "±"),
            column_of(line_with(text, "633.7 ms"), "±"));
  EXPECT_THAT(text, HasSubstr("\n§ more than 10% of its samples were taken on a throttled device: "
                              "core temperature on cpu:1, low clock on cpu:1\n"));
}

TEST(Table, EndsWithWhatWasMeasured) {
  Report report = sample_report();
  report.processes.clear();
  EXPECT_EQ(lines_of(to_table(report)).back(),
            "7 of 10 cases measured, 1 failed, 2 skipped · 2 min 21 s: 91% in samples and "
            "warm-up, 3% measuring tasks alone");
  report.complete = false;
  EXPECT_THAT(to_table(report), HasSubstr("\nIncomplete: 7 of 10"));
  report.cases[2].stopped_because = "unfinished";
  EXPECT_THAT(to_table(report), HasSubstr("\nIncomplete: 7 of 10"))
      << "the report does not know what ended its run";
}

TEST(Table, SaysWhatAMeasuredCaseLacks) {
  Report report = sample_report();
  report.cases[5].statistics.reset();
  const std::string text = to_table(report);
  EXPECT_THAT(text,
              AllOf(HasSubstr("no statistics (1)"), Not(HasSubstr("not run")),
                    HasSubstr("(1) measured, but the report lacks its \"statistics\"; take")));
}

TEST(Table, ReportsAProcessThatASignalEndedSilently) {
  Report report = sample_report();
  report.processes = {{}, {"", 1, 139, ""}, {"", 1, 1, ""}, {"", 1, 130, ""}, {"", 1, 143, ""}};
  EXPECT_THAT(to_table(report), HasSubstr("Process 2 was ended by signal 11 (Segmentation fault)"));
  EXPECT_EQ(process_errors(report).size(), 1U) << "the others ended in order";
}

TEST(Table, HasTheNotesOnModelsAboveTheScenarios) {
  Report report = sample_report();
  report.model_notes = {{"my.onnx", "2 convolutions"}};
  const std::string text = to_table(report);
  const std::size_t note = text.find("\n! my.onnx: 2 convolutions\n");
  ASSERT_NE(note, std::string::npos) << text;
  EXPECT_LT(note, text.find("\npipeline\n"));
}

TEST(Table, WrapsTheAnswer) {
  const std::string text = to_table(sample_report(), {.width = 60});
  EXPECT_THAT(text, HasSubstr("\n→ best split 5: 1.71× (1.69–1.73) the single device, 94% of\n  "));
}

TEST(Table, ShowsWhatLimitsTheAnswerInLinesBelowIt) {
  EXPECT_THAT(to_table(sample_report()), HasSubstr("\n! Preliminary, from 3 of 6 samples.\n"));
}

TEST(Table, ShowsATableOfSeveralRecommendations) {
  Report report = sample_report();
  report.answers[0].recommendations.resize(2);
  EXPECT_THAT(to_table(report), HasSubstr("verdict"));
}

TEST(Table, DoesNotNameTheNumberOfSamplesLikeAnAxis) {
  Report report = report_of({measured_case("matmul", "alone", {{"n", std::int64_t{128}}}, 1.0, 6),
                             measured_case("matmul", "alone", {{"n", std::int64_t{256}}}, 2.0, 6)});
  EXPECT_THAT(line_with(to_table(report), "median"), HasSubstr("  samples"));
  EXPECT_THAT(line_with(to_table(sample_report()), "median"),
              AllOf(HasSubstr("  n "), Not(HasSubstr("samples  "))));
}

TEST(Table, EscapesOnlyWhenAskedTo) {
  EXPECT_THAT(to_table(sample_report()), Not(HasSubstr("\033")));
  const std::string text = to_table(sample_report(), {.color = true});
  EXPECT_THAT(line_with(text, "633.7 ms"), StartsWith("\033[1m"));  // the best
  EXPECT_THAT(line_with(text, "failed (1)"), StartsWith("\033[2m"));
  for (const std::string& line : lines_of(text)) {
    if (line.find('\033') == std::string::npos) continue;
    EXPECT_THAT(line, EndsWith("\033[0m"));
  }
}

TEST(Table, IsTheSameFromTheFile) {
  const Report report = sample_report();
  EXPECT_EQ(to_table(from_json(Json::parse(to_text(to_json(report))))), to_table(report));
}

TEST(Table, OfAnEmptyReport) {
  EXPECT_THAT(to_table(Report{}), HasSubstr("Incomplete: 0 of 0 cases measured"));
}

TEST(Table, ShowsNoControlCharactersOfAReport) {
  const std::string evil = "\033]0;title\007\r\u009B2J\u202Ex";
  Report report = sample_report();
  report.version = report.machine.cpu_model = report.machine.operating_system = evil;
  report.machine.libraries.emplace_back(evil, evil);
  report.answers[0].question = report.answers[0].text = evil;
  report.answers[0].warnings = {evil};
  for (CaseResult& c : report.cases) {
    c.strategy += evil;
    c.parameters.emplace_back(evil, evil + c.name);
    c.hidden_parameters.emplace_back("h" + evil, evil);
    c.dtype = c.amount_unit = evil;
    if (!c.error.empty()) c.error += evil;
    for (DeviceMemory& memory : c.memory) memory.device += evil;
    if (c.speedup) c.speedup->baseline = evil;
  }
  report.cases[1].metrics = {{"m" + evil, 0.5, Interval{0.4, 0.6, 0.9}}};
  report.cases[0].scenario = evil;
  const std::string text = to_table(report);
  for (const char* part : {"\033", "\007", "\r", "\u009B", "\u202E"}) {
    EXPECT_THAT(text, Not(HasSubstr(part)));
  }
  EXPECT_THAT(text, HasSubstr("\uFFFD]0;title"));
}

TEST(Table, KeepsARowOnALine) {
  Report report = sample_report();
  report.cases[2].strategy = "two\nlines";
  report.cases[3].parameters[0].second = "two\nlines";
  report.answers[0].scenario = "pipeline";
  const std::string text = to_table(report);
  EXPECT_THAT(text, AllOf(HasSubstr("two\uFFFDlines"), Not(HasSubstr("two\n"))));
  report.cases[7].error = "first reason\nsecond line";
  EXPECT_THAT(to_table(report), HasSubstr("first reason\n    second line\n"));
}

}  // namespace
}  // namespace parbench::report
