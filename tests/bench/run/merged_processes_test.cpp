// What several processes have measured becomes one run.
#include "bench/run/merged_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/sampling/results.h"
#include "reports/statistics/statistics.h"
#include "tests/bench/sampling/session_reports.h"

namespace parbench {
namespace {

using report::CaseResult;
using report::CaseStatus;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

CaseResult planned(const std::string& strategy) {
  CaseResult one;
  one.name = "demo/" + strategy;
  one.scenario = "demo";
  one.strategy = strategy;
  one.dtype = "f32";
  return one;
}

/// With a sample in each of the first rounds of its process.
CaseResult measured(const std::string& strategy, const std::vector<double>& seconds) {
  CaseResult one = planned(strategy);
  one.status = CaseStatus::measured;
  one.stopped_because = "precision";
  for (const double value : seconds) {
    one.samples.push_back({value, value, 1, static_cast<int>(one.samples.size())});
  }
  return one;
}

CaseResult without_number(const std::string& strategy, CaseStatus status, std::string error) {
  CaseResult one = planned(strategy);
  one.status = status;
  one.error = std::move(error);
  return one;
}

/// The merged cases, whose report is validated.
std::vector<CaseResult> checked(const std::vector<CaseResult>& planned,
                                std::span<const ProcessCases> parts, int processes) {
  const std::vector<CaseResult> cases = merged(planned, parts, processes);
  std::vector<CaseResult> reported = cases;
  for (CaseResult& one : reported) summarise_case(one);
  fake::keep_for_validation(reported);
  return cases;
}

TEST(Merged, SamplesNameTheirProcessAndRoundsCountOn) {
  CaseResult elsewhere = measured("a", {1, 1, 1, 1, 1});
  elsewhere.name = "other/a";
  elsewhere.scenario = "other";  // whose rounds are its own
  const std::vector<ProcessCases> parts{
      {0, {measured("a", {1, 2}), measured("b", {3, 4, 5}), elsewhere}},
      {2, {measured("b", {6}), measured("a", {7})}}};
  const std::vector<CaseResult> cases = checked({planned("a"), planned("b")}, parts, 3);
  ASSERT_THAT(cases, SizeIs(2));
  EXPECT_EQ(cases[0].samples,
            (std::vector<report::Sample>{{1, 1, 1, 0, 0}, {2, 2, 1, 1, 0}, {7, 7, 1, 3, 2}}));
  EXPECT_EQ(cases[1].samples,
            (std::vector<report::Sample>{
                {3, 3, 1, 0, 0}, {4, 4, 1, 1, 0}, {5, 5, 1, 2, 0}, {6, 6, 1, 3, 2}}));
  EXPECT_EQ(cases[0].status, CaseStatus::measured);
}

TEST(Merged, OneFailureFailsTheCaseAndNamesTheProcess) {
  const std::vector<ProcessCases> parts{
      {0, {measured("a", {1})}},
      {1, {without_number("a", CaseStatus::failed, "wrong result: 4")}},
      {2, {measured("a", {1})}}};
  const CaseResult result = checked({planned("a")}, parts, 3).front();
  EXPECT_EQ(result.status, CaseStatus::failed);
  EXPECT_EQ(result.error, "in process 2 of 3: wrong result: 4");
  EXPECT_THAT(result.samples, IsEmpty());
}

TEST(Merged, ASkipTakesTheSamplesOfNoOtherProcess) {
  const std::vector<ProcessCases> parts{
      {0, {without_number("a", CaseStatus::skipped, "out of memory")}}, {1, {measured("a", {1})}}};
  const CaseResult result = checked({planned("a")}, parts, 2).front();
  EXPECT_EQ(result.status, CaseStatus::measured);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.samples, (std::vector<report::Sample>{{1, 1, 1, 0, 1}}));
  EXPECT_THAT(result.notes, ElementsAre(Pair("skipped in process 1 of 2", "out of memory")));
  const CaseResult nowhere = checked({planned("a")}, std::span(parts).first(1), 2).front();
  EXPECT_EQ(nowhere.status, CaseStatus::skipped);
  EXPECT_EQ(nowhere.error, "in process 1 of 2: out of memory");
}

TEST(Merged, WhatNoProcessHasReachedIsAsPlanned) {
  EXPECT_EQ(checked({planned("a")}, {}, 3).front(), planned("a"));
  const std::vector<ProcessCases> parts{{0, {measured("b", {1})}}};
  EXPECT_EQ(checked({planned("a")}, parts, 3).front(), planned("a"));
}

TEST(Merged, HasTheMostSevereStopTheWorstVerificationAndTheMiddleBound) {
  std::vector<ProcessCases> parts;
  const std::vector<std::string> ends{"precision", "max-time", "total-time"};
  for (int process = 0; process < 3; ++process) {
    CaseResult one = measured("a", {1});
    one.stopped_because = ends[process];
    one.verification = report::Verification{"x", true, process == 1 ? 0.5 : 0.25, {}};
    one.bound.emplace().seconds = process == 1 ? 0.9 : 0.2 + 0.2 * process;
    if (process == 2) {  // which saw a machine at half the speed
      for (report::Sample& sample : one.samples) sample.seconds *= 2;
      one.bound->seconds *= 2;
    }
    one.statistics = summarise(Samples(one.samples));
    one.kernels = {{"gemm", process == 2 ? "other" : "usual", 1}};
    parts.push_back({process, {one}});
  }
  const CaseResult result = checked({planned("a")}, parts, 3).front();
  EXPECT_EQ(result.stopped_because, "max-time");
  EXPECT_DOUBLE_EQ(result.verification->largest_error, 0.5);
  EXPECT_DOUBLE_EQ(result.bound->seconds, 0.6) << "of a median of 1 s";
  EXPECT_EQ(result.kernels.front().implementation, "usual");
  EXPECT_THAT(result.notes, ElementsAre(Pair("other kernels", "than in process 1: in process 3")));
}

TEST(Merged, OfTwoProcessesTheBoundWithTheLowerEfficiencyCounts) {
  std::vector<ProcessCases> parts;
  for (int process = 0; process < 2; ++process) {
    CaseResult one = measured("a", {process == 0 ? 1.0 : 4.0});
    one.statistics = summarise(Samples(one.samples));
    const double efficiency = process == 0 ? 0.75 : 0.5;
    one.bound.emplace().seconds = efficiency * one.statistics->median;
    one.bound->critical_path = one.bound->seconds / 2;
    parts.push_back({process, {one}});
  }
  const CaseResult result = checked({planned("a")}, parts, 2).front();
  constexpr double median = 2.5;  // of 1 and 4
  EXPECT_DOUBLE_EQ(result.bound->seconds, 0.5 * median);
  EXPECT_DOUBLE_EQ(result.bound->critical_path, 0.25 * median);
}

TEST(Merged, StopsAsTheMostSevereOfAnyTwoProcesses) {
  const std::vector<std::string> order{"fixed count", "precision",   "total-time",
                                       "max-time",    "device lost", "unfinished"};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < order.size(); ++j) {
      std::vector<ProcessCases> parts{{0, {measured("a", {1})}}, {1, {measured("a", {1})}}};
      parts[0].cases[0].stopped_because = order[i];
      parts[1].cases[0].stopped_because = order[j];
      EXPECT_EQ(checked({planned("a")}, parts, 2).front().stopped_because, order[std::max(i, j)]);
    }
  }
}

/// They are computed anew from all samples.
TEST(Merged, HasNoFiguresOfOneProcess) {
  CaseResult one = measured("a", {1});
  one.statistics = summarise(Samples(one.samples));
  one.speedup = Ratio{2, std::nullopt, "demo/b"};
  one.metrics = {{.name = "overlap", .value = 0.5}};
  const std::vector<ProcessCases> parts{{0, {one}}, {1, {one}}};
  const CaseResult result = checked({planned("a")}, parts, 2).front();
  EXPECT_FALSE(result.statistics.has_value());
  EXPECT_FALSE(result.speedup.has_value());
  EXPECT_THAT(result.metrics, IsEmpty());
  EXPECT_FALSE(result.bound.has_value()) << "no process has one";
}

TEST(Merged, TakeTheProfileOfTheFirstProcessThatProfiled) {
  std::vector<ProcessCases> parts;
  for (int process = 0; process < 3; ++process) {
    CaseResult one = measured("a", {1});
    one.notes = {{"partition", "middle"}};
    if (process == 0) one.notes.emplace_back("no timeline", "cpu:0 did not finish");
    if (process > 0) one.profile.emplace().executions = process;
    parts.push_back({process, {one}});
  }
  const CaseResult result = checked({planned("a")}, parts, 3).front();
  ASSERT_TRUE(result.profile.has_value());
  EXPECT_EQ(result.profile->executions, 1);
  EXPECT_THAT(result.notes, ElementsAre(Pair("partition", "middle")));
  const CaseResult nowhere = checked({planned("a")}, std::span(parts).first(1), 3).front();
  EXPECT_FALSE(nowhere.profile.has_value());
  EXPECT_THAT(nowhere.notes, ElementsAre(Pair("partition", "middle"),
                                         Pair("no timeline", "cpu:0 did not finish")));
}

TEST(Merged, ACaseWithAnotherParameterIsAnotherCase) {
  CaseResult other = measured("a", {1, 2});
  other.parameters = {{"layout", std::string("new")}};  // which its name does not show
  const std::vector<ProcessCases> parts{{0, {other}}};
  EXPECT_THAT(checked({planned("a")}, parts, 1)[0].samples, IsEmpty());
}

}  // namespace
}  // namespace parbench
