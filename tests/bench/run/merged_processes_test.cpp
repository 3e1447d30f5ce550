// What several processes have measured becomes one run.
#include "bench/run/merged_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

using report::CaseResult;
using report::CaseStatus;
using testing::Contains;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

CaseResult planned(const std::string& strategy) {
  CaseResult one;
  one.name = "demo/" + strategy;
  one.scenario = "demo";
  one.strategy = strategy;
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

TEST(Merged, SamplesNameTheirProcessAndRoundsCountOn) {
  CaseResult elsewhere = measured("a", {1, 1, 1, 1, 1});
  elsewhere.name = "other/a";
  elsewhere.scenario = "other";  // whose rounds are its own
  const std::vector<ProcessCases> parts{
      {0, {measured("a", {1, 2}), measured("b", {3, 4, 5}), elsewhere}},
      {2, {measured("b", {6}), measured("a", {7})}}};
  const std::vector<CaseResult> cases = merged({planned("a"), planned("b")}, parts, 3);
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
  const CaseResult result = merged({planned("a")}, parts, 3).front();
  EXPECT_EQ(result.status, CaseStatus::failed);
  EXPECT_EQ(result.error, "in process 2 of 3: wrong result: 4");
  EXPECT_THAT(result.samples, IsEmpty());
}

TEST(Merged, ASkipTakesTheSamplesOfNoOtherProcess) {
  const std::vector<ProcessCases> parts{
      {0, {without_number("a", CaseStatus::skipped, "out of memory")}}, {1, {measured("a", {1})}}};
  const CaseResult result = merged({planned("a")}, parts, 2).front();
  EXPECT_EQ(result.status, CaseStatus::measured);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.samples, SizeIs(1));
  EXPECT_THAT(result.notes, Contains(Pair("skipped in process 1 of 2", "out of memory")));
  const CaseResult nowhere = merged({planned("a")}, std::span(parts).first(1), 2).front();
  EXPECT_EQ(nowhere.status, CaseStatus::skipped);
  EXPECT_EQ(nowhere.error, "in process 1 of 2: out of memory");
}

TEST(Merged, WhatNoProcessHasReachedIsAsPlanned) {
  EXPECT_EQ(merged({planned("a")}, {}, 3).front(), planned("a"));
  const std::vector<ProcessCases> parts{{0, {measured("b", {1})}}};
  EXPECT_EQ(merged({planned("a")}, parts, 3).front(), planned("a"));
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
  const CaseResult result = merged({planned("a")}, parts, 3).front();
  EXPECT_EQ(result.stopped_because, "max-time");
  EXPECT_DOUBLE_EQ(result.verification->largest_error, 0.5);
  EXPECT_DOUBLE_EQ(result.bound->seconds, 0.6) << "of a median of 1 s";
  EXPECT_EQ(result.kernels.front().implementation, "usual");
  EXPECT_THAT(result.notes, Contains(Pair("other kernels", "than in process 1: in process 3")));
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
  const CaseResult result = merged({planned("a")}, parts, 2).front();
  const double median = summarise(Samples(result.samples)).median;
  EXPECT_GT(median, 1);
  EXPECT_LT(median, 4);
  EXPECT_DOUBLE_EQ(result.bound->seconds, 0.5 * median);
  EXPECT_DOUBLE_EQ(result.bound->critical_path, 0.25 * median);
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
  const CaseResult result = merged({planned("a")}, parts, 3).front();
  ASSERT_TRUE(result.profile.has_value());
  EXPECT_EQ(result.profile->executions, 1);
  EXPECT_THAT(result.notes, testing::ElementsAre(Pair("partition", "middle")));
  const CaseResult nowhere = merged({planned("a")}, std::span(parts).first(1), 3).front();
  EXPECT_FALSE(nowhere.profile.has_value());
  EXPECT_THAT(nowhere.notes, Contains(Pair("no timeline", "cpu:0 did not finish")));
}

TEST(Merged, ACaseWithAnotherParameterIsAnotherCase) {
  CaseResult other = measured("a", {1, 2});
  other.parameters = {{"layout", std::string("new")}};  // which its name does not show
  const std::vector<ProcessCases> parts{{0, {other}}};
  EXPECT_THAT(merged({planned("a")}, parts, 1)[0].samples, IsEmpty());
}

}  // namespace
}  // namespace parbench
