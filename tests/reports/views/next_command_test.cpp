// Which command continues a run that leaves something open.
#include "reports/views/next_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "kernels/base/units/units.h"
#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using testing::ElementsAre;

/// A case whose samples alternate around the median by a share, those of odd splits with the other
/// sign than those of even ones.
CaseResult sampled(std::int64_t split, double median, double share, int samples = 20) {
  CaseResult c = measured_case("pipeline", "pipeline", {{"split", split}}, median, samples);
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    Sample& sample = c.samples[i];
    sample.seconds =
        median * (1 + ((i + static_cast<std::size_t>(split)) % 2 == 0 ? share : -share));
    sample.wall_seconds = sample.seconds;
    sample.iterations = 1;
  }
  c.speedup = Ratio{1.2, Interval{1.1, 1.3, 0.95}, "pipeline/single"};
  c.stopped_because = total_time;
  return c;
}

/// A run of 30 s whose answer names these cases as tied.
Report tied_report(const std::vector<CaseResult>& tied) {
  Report report;
  report.duration_seconds = 30;
  Sampling& sampling = report.sampling.emplace_back();
  sampling.precision = 0.01;
  sampling.max_seconds = 20;
  report.cases.push_back(measured_case("pipeline", "single", {}, 1, 20));
  Answer answer{.scenario = "pipeline", .question = "Which?", .text = "This."};
  Recommendation& one = answer.recommendations.emplace_back();
  for (const CaseResult& c : tied) {
    report.cases.push_back(c);
    one.candidates.push_back({"split " + value_text(c.parameters.front().second), c.name});
  }
  report.answers.push_back(answer);
  return report;
}

TEST(NextCommand, ResumesWhereTheTimeOfTheRunWasOverForTiedCases) {
  const auto next =
      next_command(tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)}), "r.json");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->purpose, "to distinguish split 12 and split 5");
  Report at_setting = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  at_setting.answers.front().recommendations.front().setting = "batch 32";
  EXPECT_EQ(next_command(at_setting, "r.json")->purpose,
            "to distinguish split 12 and split 5 at batch 32");
  EXPECT_THAT(next->arguments,
              ElementsAre("--resume", "r.json", "--max-time", "180", "--max-total-time", "110"))
      << "3.5 times as many samples, of which the baseline took 40 s so far: the interval of the "
         "ratio "
         "is 6% wide on either side, and 4% are between it and the ratio of a tie";
}

TEST(NextCommand, RepeatsARunThatLoadLeftWithoutAVerdict) {
  Report report = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  report.answers[0].recommendations[0].load = 0.4;
  const auto next = next_command(report, "r.json");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->purpose, "for a verdict, on a quiet machine");
  EXPECT_THAT(next->arguments, ElementsAre("--rerun", "r.json"));
}

/// An idle machine alone gives no verdict where cases lack samples or processes.
TEST(NextCommand, RepeatsALoadedRunWithWhatItsCasesLacked) {
  const auto arguments_of = [](Report report) {
    report.answers[0].recommendations[0].load = 0.4;
    const auto next = next_command(report, "r.json");
    EXPECT_EQ(next->purpose, "for a verdict, on a quiet machine");
    return next->arguments;
  };
  Report report = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  report.cases.push_back(sampled(3, 1, 0.02, 3));
  EXPECT_THAT(arguments_of(report),
              ElementsAre("--rerun", "r.json", "--max-time", "90", "--max-total-time", "60"))
      << "twice as many samples, of which one case took 42 s";
  report.cases.back() = {};
  report.cases.back().name = "pipeline/pipeline/split:3";
  report.cases.back().status = CaseStatus::not_run;
  report.cases.back().stopped_because = total_time;
  EXPECT_THAT(arguments_of(report),
              ElementsAre("--rerun", "r.json", "--max-time", "50", "--max-total-time", "50"))
      << "1.2 · 30 s · 4/3 = 48 s";
  report.cases.pop_back();
  report.processes.resize(3);
  EXPECT_THAT(arguments_of(report),
              ElementsAre("--rerun", "r.json", "--processes", "6", "--max-total-time", "60"));
}

TEST(NextCommand, KeepsToTheCoresThatTheRunWasAllowed) {
  Report report = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  report.machine.cores_online = 4;
  report.machine.cores_allowed = {0, 2};
  EXPECT_THAT(next_command(report, "r.json")->launcher, ElementsAre("taskset", "-c", "0,2"));
  report.machine.cores_allowed = {0, 1, 2, 3};
  EXPECT_THAT(next_command(report, "r.json")->launcher, testing::IsEmpty());
}

TEST(NextCommand, AsksForAQuietMachineToFindTheFastest) {
  Report report = tied_report({sampled(12, 1, 0.03)});
  report.answers[0].recommendations[0].hiding_load = 0.3;
  const auto next = next_command(report, "r.json");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->purpose, "to find the fastest case, on a quiet machine");
}

TEST(NextCommand, AsksForAsManyProcessesAsAnIntervalNeeds) {
  Report report = tied_report({sampled(12, 1, 0.02)});
  report.processes.resize(3);
  EXPECT_FALSE(next_command(report, "r.json").has_value());
  report.answers[0].preliminary = true;
  const auto next = next_command(report, "r.json");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->purpose, "to measure with 6 processes");
  EXPECT_THAT(next->arguments,
              ElementsAre("--rerun", "r.json", "--processes", "6", "--max-total-time", "60"));
  report.processes.resize(6);
  EXPECT_FALSE(next_command(report, "r.json").has_value());
}

/// Cases within 3% of the fastest are tied, and the simplest of them stays the recommended one.
TEST(NextCommand, IsNoneWhereMoreSamplesWouldNotChangeWhatIsRecommended) {
  EXPECT_FALSE(next_command(tied_report({sampled(12, 1, 0.01), sampled(5, 1.01, 0.01)}), "r.json"));
  EXPECT_FALSE(
      next_command(tied_report({sampled(12, 1, 0.001), sampled(5, 0.98, 0.001)}), "r.json"))
      << "faster, but by less than 3%";
  const auto next = next_command(
      tied_report({sampled(12, 1, 0.01), sampled(5, 1.01, 0.01), sampled(3, 0.98, 0.01)}),
      "r.json");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->purpose, "to distinguish split 12 and split 3");
}

TEST(NextCommand, AsksForMoreTheNearerTheCasesAre) {
  const auto next =
      next_command(tied_report({sampled(12, 1, 0.05), sampled(5, 0.98, 0.05)}), "r.json");
  EXPECT_THAT(next->arguments, ElementsAre("--resume", "r.json", "--precision", "0.5", "--max-time",
                                           "420", "--max-total-time", "300"))
      << "at most ten times as many samples";
}

TEST(NextCommand, RepeatsTiedCasesThatCameToTheirEndWithTheirBaseline) {
  CaseResult first = sampled(12, 1, 0.01);
  CaseResult second = sampled(5, 0.98, 0.01);
  first.stopped_because = second.stopped_because = "precision";
  Report report = tied_report({first, second});
  for (const std::int64_t other : {1, 2, 3}) {
    report.cases.push_back(sampled(other, 2, 0.001));
    report.cases.back().name += "+1";
  }
  const auto next = next_command(report, "r.json");
  ASSERT_TRUE(next.has_value());
  ASSERT_EQ(next->arguments.size(), 9U);
  EXPECT_EQ(next->arguments[0], "--rerun");
  const std::string option = "--benchmark_filter=";
  ASSERT_EQ(next->arguments[2].substr(0, option.size()), option);
  const std::regex filter(next->arguments[2].substr(option.size()), std::regex::extended);
  EXPECT_TRUE(std::regex_search(std::string("pipeline/single"), filter));
  EXPECT_TRUE(std::regex_search(first.name, filter));
  EXPECT_TRUE(std::regex_search(second.name, filter));
  EXPECT_FALSE(std::regex_search(report.cases.back().name, filter));
  EXPECT_THAT(std::vector(next->arguments.begin() + 3, next->arguments.end()),
              ElementsAre("--precision", "0.5", "--max-time", "300", "--max-total-time", "240"));
  report.sampling[0].precision = 0.002;
  EXPECT_FALSE(next_command(report, "r.json")) << "a smaller difference is not worth the time";
}

TEST(NextCommand, RepeatsAllCasesWhereMostAreTied) {
  Report report = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  for (CaseResult& c : report.cases) c.stopped_because = "max-time";
  EXPECT_THAT(next_command(report, "r.json")->arguments,
              ElementsAre("--rerun", "r.json", "--precision", "0.5", "--max-time", "180",
                          "--max-total-time", "110"));
}

TEST(NextCommand, AsksForMoreSamplesWhereTheirNumberIsFixed) {
  Report report = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  for (CaseResult& c : report.cases) c.stopped_because = "fixed count";
  report.sampling[0].fixed_samples = 20;
  EXPECT_THAT(next_command(report, "r.json")->arguments,
              ElementsAre("--rerun", "r.json", "--benchmark_repetitions=70"));
}

TEST(NextCommand, MeasuresWhatIsMissingFirst) {
  Report report = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  for (CaseResult& c : report.cases) c.stopped_because = "precision";
  report.cases.push_back(sampled(3, 1, 0.02, 3));
  EXPECT_EQ(next_command(report, "r.json")->purpose, "to take 6 samples of each case");
  report.cases.back() = {};
  report.cases.back().name = "pipeline/pipeline/split:3";
  report.cases.back().status = CaseStatus::not_run;
  report.cases.back().stopped_because = total_time;
  const auto next = next_command(report, "r.json");
  EXPECT_EQ(next->purpose, "to measure the other case");
  EXPECT_EQ(next->arguments[0], "--resume");
}

/// A run of 30 s with cases that are measured and others that are not.
Report partly_measured(int measured, int left_out, std::string_view stopped_because) {
  Report report = tied_report({});
  report.answers.clear();
  report.cases.clear();
  for (int i = 0; i < measured; ++i) {
    report.cases.push_back(sampled(i, 1, 0.02));
    report.cases.back().stopped_because = "precision";
  }
  for (int i = 0; i < left_out; ++i) {
    CaseResult& c = report.cases.emplace_back();
    c.name = "pipeline/pipeline/split:" + std::to_string(measured + i);
    c.status = CaseStatus::not_run;
    c.stopped_because = stopped_because;
  }
  return report;
}

TEST(NextCommand, ResumesAnInterruptedRunWithTheLimitsThatItHad) {
  const auto next = next_command(partly_measured(1, 43, "unfinished"), "r.json");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->purpose, "to measure the other 43 cases");
  EXPECT_THAT(next->arguments, ElementsAre("--resume", "r.json"));
}

TEST(NextCommand, GivesCasesThatWereLeftOutAsMuchTimeAsTheOthersTook) {
  const auto next = next_command(partly_measured(5, 58, total_time), "r.json");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->purpose, "to measure the other 58 cases");
  EXPECT_THAT(next->arguments,
              ElementsAre("--resume", "r.json", "--max-time", "40", "--max-total-time", "480"))
      << "1.2 · 30 s · 63/5 = 454 s";
}

TEST(NextCommand, GivesARunWithoutAnyMeasuredCaseItsLimitAtLeast) {
  Report report = partly_measured(0, 7, total_time);
  report.sampling[0].total_seconds = 10;
  const auto next = next_command(report, "r.json");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->purpose, "to measure all 7 cases");
  EXPECT_THAT(next->arguments, ElementsAre("--resume", "r.json", "--max-total-time", "180"));
  report.sampling[0].total_seconds = 240;
  EXPECT_EQ(next_command(report, "r.json")->arguments.back(), "240");
}

TEST(NextCommand, IsOneForAllScenarios) {
  Report report = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  report.answers.push_back(report.answers[0]);
  EXPECT_EQ(next_command(report, "r.json")->purpose,
            "to distinguish the fastest cases of 2 settings");
}

TEST(NextCommand, IsNoneWhereNothingIsOpenOrTheRunCannotBeContinued) {
  EXPECT_FALSE(next_command(tied_report({sampled(12, 1, 0.02)}), "r.json")) << "no tie";
  const Report open = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  Report report = open;
  report.machine.libraries.emplace_back("ranks", "2");
  EXPECT_FALSE(next_command(report, "r.json")) << "mpirun is not known";
  report = open;
  report.options.emplace_back("for-profiler", "true");
  EXPECT_FALSE(next_command(report, "r.json"));
  report = open;
  report.measured_by = "another program";
  EXPECT_FALSE(next_command(report, "r.json"));
}

TEST(NextCommand, RepeatsRunsOfSeveralProcesses) {
  Report report = tied_report({sampled(12, 1, 0.03), sampled(5, 1.01, 0.03)});
  report.processes.resize(2);
  EXPECT_EQ(next_command(report, "r.json")->arguments[0], "--rerun");
}

TEST(NextCommand, RepeatsRunsOfSeveralProcessesThatLackedTime) {
  Report report = tied_report({});
  report.processes.resize(6);
  for (const std::int64_t split : {2, 4}) {
    CaseResult& left = report.cases.emplace_back(sampled(split, 1, 0));
    left.status = CaseStatus::not_run;
    left.samples.clear();
  }
  const auto next = next_command(report, "r.json");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->purpose, "to measure the other 2 cases");
  EXPECT_THAT(next->arguments, ElementsAre("--rerun", "r.json", "--max-total-time", "110"))
      << "30 s for one case of three, and a fifth more";
}

}  // namespace
}  // namespace parbench::report
