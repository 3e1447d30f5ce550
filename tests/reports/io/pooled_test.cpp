// Several runs as one report.
#include "reports/io/pooled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "reports/model/notes.h"
#include "reports/statistics/statistics.h"
#include "reports/views/circumstances.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

CaseResult case_named(const std::string& name, double seconds, int processes = 1) {
  CaseResult c;
  c.name = name;
  c.scenario = "program";
  c.strategy = name;
  c.status = CaseStatus::measured;
  for (int process = 0; process < processes; ++process) {
    for (int i = 0; i < 3; ++i) {
      c.samples.push_back(
          {.seconds = seconds + process + 0.01 * i, .round = i, .process = process});
    }
  }
  c.statistics = summarise(Samples(c.samples));
  c.amount = 10;
  c.throughput = 10 / c.statistics->median;
  c.speedup = Ratio{};
  return c;
}

Report run_of(std::vector<CaseResult> cases) {
  Report report;
  report.version = "1.9.0";
  report.measured_by = "Google Benchmark 1.9.0";
  report.started_utc = "2026-11-20T10:00:00Z";
  report.complete = true;
  report.machine.cores_online = 8;
  report.cases = std::move(cases);
  return report;
}

CaseResult case_with(CaseStatus status, const std::string& error) {
  CaseResult c = case_named("a", 1);
  c.status = status;
  c.error = error;
  c.samples.clear();
  c.statistics.reset();
  return c;
}

Report pooled_runs(const std::vector<Report>& runs, bool allow_different_machine = false) {
  std::vector<NamedRun> named;
  for (const Report& run : runs) {
    named.push_back({"run" + std::to_string(named.size() + 1) + ".json", run});
  }
  return pooled(std::move(named), allow_different_machine);
}

std::string refusal_of(const std::vector<Report>& runs) {
  try {
    (void)pooled_runs(runs);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Pooled, ASingleRunStaysAsItIs) {
  const Report run = run_of({case_named("a", 1)});
  EXPECT_EQ(pooled_runs({run}), run);
}

TEST(Pooled, ProcessesOfAllRunsAreProcesses) {
  const Report report =
      pooled_runs({run_of({case_named("a", 1, 2)}), run_of({case_named("a", 4, 1)}),
                   run_of({case_named("a", 10, 2)})});
  ASSERT_EQ(report.cases.size(), 1U);
  const CaseResult& c = report.cases[0];
  EXPECT_THAT(process_medians(c.samples), ElementsAre(1.01, 2.01, 4.01, 10.01, 11.01));
  EXPECT_DOUBLE_EQ(c.statistics->median, 4.01);
  EXPECT_DOUBLE_EQ(c.throughput, 10 / 4.01);
  EXPECT_FALSE(c.speedup) << "it was one of the first run";
  std::set<std::pair<int, int>> rounds;
  for (const Sample& sample : c.samples) rounds.insert({sample.process, sample.round});
  EXPECT_EQ(rounds.size(), c.samples.size()) << "no two samples are of one round";
  EXPECT_TRUE(report.file_notes.empty());
}

TEST(Pooled, AFailureInOneRunIsOneOfTheCase) {
  const std::vector<CaseResult> measured{case_named("a", 1)};
  for (const CaseStatus status : {CaseStatus::failed, CaseStatus::skipped}) {
    const std::vector<CaseResult> troubled{case_with(status, "connection refused")};
    for (const auto& runs :
         {std::vector{run_of(measured), run_of(troubled), run_of({case_named("a", 2)})},
          std::vector{run_of(troubled), run_of(measured), run_of({case_named("a", 2)})}}) {
      const CaseResult c = pooled_runs(runs).cases.at(0);
      EXPECT_EQ(c.status, status);
      EXPECT_EQ(c.error, "in 1 of 3 runs: connection refused");
      EXPECT_FALSE(c.statistics);
      EXPECT_TRUE(c.samples.empty());
    }
  }
  const CaseResult both = pooled_runs({run_of({case_with(CaseStatus::skipped, "no network")}),
                                       run_of({case_with(CaseStatus::failed, "refused")})})
                              .cases.at(0);
  EXPECT_EQ(both.status, CaseStatus::failed);
  EXPECT_EQ(both.error, "refused") << "no run has a number";
}

TEST(Pooled, ACaseThatARunDidNotComeToHasTheOthersSamples) {
  for (const bool first : {true, false}) {
    Report without = run_of({case_with(CaseStatus::not_run, "")});
    without.complete = false;
    const Report with = run_of({case_named("a", 1)});
    const Report report = first ? pooled_runs({without, with}) : pooled_runs({with, without});
    EXPECT_EQ(report.cases.at(0).status, CaseStatus::measured);
    EXPECT_EQ(report.cases.at(0).samples.size(), 3U);
    EXPECT_FALSE(report.complete);
  }
}

TEST(Pooled, RunsMayHaveDifferentCases) {
  Report other = run_of({case_named("a", 1), case_named("b", 1)});
  other.cases[0].scenario = "other program";
  const Report report = pooled_runs({run_of({case_named("a", 2)}), other});
  ASSERT_EQ(report.cases.size(), 3U);
  EXPECT_EQ(report.cases[0].name, "program/a");
  EXPECT_EQ(report.cases[1].name, "other program/a") << "names identify cases";
  EXPECT_EQ(report.cases[2].name, "b");
  ASSERT_EQ(report.file_notes.size(), 1U);
  EXPECT_EQ(report.file_notes[0].count, 3);
  EXPECT_THAT(report.file_notes[0].first, HasSubstr("is in 1 of 2"));
}

TEST(Pooled, AddsUpFactsOfRuns) {
  Report first = run_of({case_named("a", 1)});
  Report second = run_of({case_named("a", 2)});
  first.started_utc = "";
  first.duration_seconds = 3;
  second.duration_seconds = 4;
  first.file_notes = second.file_notes = {{"commas were left out", "line 3", 2}};
  first.machine.commit = "abc";
  const Report report = pooled_runs({first, second});
  EXPECT_EQ(report.started_utc, second.started_utc);
  EXPECT_EQ(report.duration_seconds, 7);
  ASSERT_EQ(report.file_notes.size(), 2U);
  EXPECT_EQ(report.file_notes[0].first, "run1.json, line 3");
  EXPECT_EQ(report.file_notes[0].count, 4);
  EXPECT_EQ(report.file_notes[1].first, "abc and unknown");
}

TEST(Pooled, KeepsWhatAQuotaWithheld) {
  const auto run_with = [](double seconds, double lost) {
    Report run = run_of({case_named("a", seconds)});
    for (Sample& sample : run.cases[0].samples) {
      sample.wall_seconds = seconds;
      sample.quota_lost = lost;
    }
    run.duration_seconds = 10 * seconds;
    run.quota_lost = lost / 2;
    return run;
  };
  const Report all = pooled_runs({run_with(1, 0), run_with(3, 0.4)});
  EXPECT_DOUBLE_EQ(all.cases.at(0).quota_lost, 0.3) << "mean over the time of the samples";
  EXPECT_DOUBLE_EQ(all.quota_lost, 0.15) << "mean over the time of the runs";
}

TEST(Pooled, CountsThrottledSamplesOfAllRuns) {
  const auto run_with = [](double seconds, std::size_t marked, const std::string& reason) {
    Report run = run_of({case_named("a", seconds)});
    for (Sample& sample : run.cases[0].samples) sample.conditions = {{.device = "cpu:0"}};
    for (std::size_t i = 0; i < marked; ++i) {
      run.cases[0].samples[i].conditions[0].throttled_by = {reason};
    }
    return run;
  };
  const CaseResult c =
      pooled_runs({run_with(1, 0, ""), run_with(2, 1, "low clock"), run_with(3, 2, "power cap")})
          .cases.at(0);
  EXPECT_EQ(c.throttling,
            (Throttling{3, 9, true, {{"cpu:0", "power cap", 2}, {"cpu:0", "low clock", 1}}}));
  EXPECT_EQ(c.conditions.size(), 1U) << "one for each device";
}

TEST(Pooled, KeepsCircumstancesOfAllRuns) {
  const auto run_with = [](double seconds, NamedTexts circumstances) {
    Report run = run_of({case_named("a", seconds)});
    run.machine.circumstances = std::move(circumstances);
    return run;
  };
  const Report report =
      pooled_runs({run_with(1, {{"library_build_type", "release"}}),
                   run_with(2, {{"library_build_type", "debug"}, {"aslr_enabled", "true"}}),
                   run_with(3, {}), run_with(4, {{"library_build_type", "debug"}})});
  EXPECT_THAT(
      report.machine.circumstances,
      ElementsAre(Pair("library_build_type", "release and debug"), Pair("aslr_enabled", "true")));
  EXPECT_THAT(notes_on_file(report),
              ElementsAre(StartsWith("This run (some runs): Google Benchmark's library is a debug"),
                          StartsWith("This run: memory has another layout")));
}

TEST(Pooled, NamesStayUnique) {
  Report other = run_of({case_named("a", 1), case_named("program/a", 1)});
  other.cases[0].scenario = "other";
  const Report report = pooled_runs({run_of({case_named("a", 2)}), other});
  std::vector<std::string> names;
  for (const CaseResult& c : report.cases) names.push_back(c.name);
  EXPECT_THAT(names, ElementsAre("program/a (2)", "other/a", "program/a"));
}

TEST(Pooled, HasTheLimitsOfAReport) {
  Report run = run_of({case_named("a", 1)});
  Report other = run_of({case_named("b", 1)});
  for (int i = 0; i < 600; ++i) {
    run.cases[0].notes.emplace_back("first" + std::to_string(i), "");
    other.cases[0].notes.emplace_back("second" + std::to_string(i), "");
  }
  EXPECT_THAT(refusal_of({run, other}), HasSubstr("cases: 2 cases name 1201 scenarios"));
}

TEST(Pooled, AcceptsRunsThatLookAlike) {
  const Report failed = run_of({case_with(CaseStatus::failed, "refused")});
  EXPECT_EQ(refusal_of({failed, failed}), "accepted") << "no run has samples";
  const Report run = run_of({case_named("a", 1)});
  Report later = run;
  later.started_utc = "2026-11-20T10:01:00Z";
  EXPECT_EQ(refusal_of({run, later}), "accepted") << "coarse timers give equal times";
  later.started_utc = "";
  EXPECT_THAT(refusal_of({later, later}), HasSubstr("run2.json has the same samples as run1.json"));
}

TEST(Pooled, RefusesCopiesAndOtherMachines) {
  const Report run = run_of({case_named("a", 1)});
  EXPECT_THAT(refusal_of({run_of({case_named("a", 2)}), run, run}),
              AllOf(HasSubstr("run3.json has the same samples as run2.json")));
  Report own = run_of({case_named("a", 2)});
  own.measured_by.clear();
  EXPECT_THAT(refusal_of({run, own}), AllOf(HasSubstr("measured by Google Benchmark"),
                                            HasSubstr("run2.json by parbench 1.9.0")));
  Report elsewhere = run_of({case_named("a", 2)});
  elsewhere.machine.cores_online = 4;
  EXPECT_THAT(
      refusal_of({run, elsewhere}),
      AllOf(HasSubstr("run1.json and run2.json are of different machines"),
            HasSubstr("number of cores: 8 before, 4 now"), HasSubstr("--allow-different-machine")));
  EXPECT_THAT(
      [&] {
        (void)pooled({{"", run}, {"", elsewhere}});
      },
      ThrowsMessage<UsageError>(HasSubstr("split the file")));
  EXPECT_EQ(pooled_runs({run, elsewhere}, true).cases.at(0).samples.size(), 6U);
  elsewhere.machine.cores_online = 0;
  EXPECT_EQ(refusal_of({run, elsewhere}), "accepted") << "nothing is known of it";
  Report two = run_of({case_named("a", 1), case_named("b", 1)});
  two.cases[1].scenario = "second";
  two.devices.resize(1);
  two.devices[0].scenario = "second";
  two.devices[0].model = "H100";
  Report other_device = two;
  other_device.started_utc = "2026-11-20T11:00:00Z";
  other_device.devices[0].model = "H200";
  EXPECT_THAT(refusal_of({two, other_device}), HasSubstr("H200")) << "in the second scenario";
}

/// The cuts that a pooled report has of a case that its runs have cut there; "": without a note.
std::string pooled_cut(const std::vector<std::string>& cuts) {
  std::vector<Report> runs;
  for (const std::string& cut : cuts) {
    CaseResult one = case_named("a", 1.0 + static_cast<double>(runs.size()));
    if (!cut.empty()) one.notes.emplace_back("cut at", cut);
    runs.push_back(run_of({one}));
  }
  return cut_of(pooled_runs(runs).cases.at(0));
}

TEST(Pooled, NamesEachPlaceWhereStagesBeginOnce) {
  EXPECT_EQ(pooled_cut({"layer2", "layer2"}), "layer2");
  EXPECT_EQ(pooled_cut({"layer2", "layer3", "layer2"}), "layer2 and layer3");
  EXPECT_EQ(pooled_cut({"features.10", "features.1"}), "features.10 and features.1")
      << "a name that is a part of another one";
  EXPECT_EQ(pooled_cut({"", "layer2"}), "layer2");
}

}  // namespace
}  // namespace parbench::report
