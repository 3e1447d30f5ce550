// From timelines made by hand to what their report finds.
#include "bench/sampling/profiling_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/findings/findings.h"
#include "tests/scenarios/plan/made_timeline.h"

namespace parbench {
namespace {

/// Copies that follow one another, each of which takes `ran`, after the host was held for `held`.
Timeline copies(int count, double bytes, Nanoseconds held, Nanoseconds ran) {
  MadeTimeline made;
  const auto lane = made.lane("cuda:0", "copy");
  for (int i = 0; i < count; ++i) {
    const Nanoseconds begin = i * (held + ran);
    made.task(lane, {begin + held, begin + held + ran}, {.kind = TaskKind::copy});
    TimedCall& call = made.made().calls.back();
    call.enqueued = {begin, begin + held};
    call.work.bytes = 2 * bytes;
  }
  return made.made();
}

std::vector<std::string> rules_for(const Timeline& timeline) {
  report::Report report;
  report::CaseResult& one = report.cases.emplace_back();
  one.name = "s/a";
  one.scenario = "s";
  one.status = report::CaseStatus::measured;
  const double seconds = seconds_of(timeline.end);
  one.statistics.emplace().median = seconds;
  one.profile = profile_of({.timeline = timeline, .seconds = {seconds}});
  report::find_reasons(report);
  std::vector<std::string> rules;
  for (const report::Finding& finding : report.findings) rules.push_back(finding.rule);
  return rules;
}

TEST(CallsOfATimeline, OnReferenceKernelsAreAddedUpByLayerAndFound) {
  MadeTimeline made;
  const auto lane = made.lane("cpu:0", "compute");
  for (const Nanoseconds begin : {0, 100, 200, 300}) {
    made.task(lane, {begin, begin + 100});
    TimedCall& call = made.made().calls.back();
    call.name = "convolution_backward_data";
    if (begin == 0) continue;
    call.kernel = "ref:any";
    call.reference = true;
    call.tensors = begin == 300 ? "source 1x5x3x3" : "source 2x5x3x3";
  }
  const TimelineMetrics metrics = metrics_of(made.made());
  ASSERT_EQ(metrics.calls.size(), 3U);
  EXPECT_EQ(metrics.calls[0].tensors, "source 2x5x3x3");
  EXPECT_EQ(metrics.calls[0].count, 2);
  EXPECT_DOUBLE_EQ(metrics.calls[0].seconds, 2e-7);
  EXPECT_THAT(rules_for(made.made()), testing::Contains("reference-kernel"));
}

TEST(CopiesOfATimeline, ThatHeldTheHostForTheirBytesWereNotAsynchronous) {
  constexpr double mebibyte = 1 << 20;
  EXPECT_THAT(rules_for(copies(8, mebibyte, 90'000, 95'000)),
              testing::Contains("copy-not-asynchronous"));
  EXPECT_THAT(rules_for(copies(8, mebibyte, 5'000, 95'000)),
              testing::Not(testing::Contains("copy-not-asynchronous")));
}

TEST(CopiesOfATimeline, ThatAreTinyHoldTheHostByTheirNumberAlone) {
  EXPECT_THAT(rules_for(copies(1000, 4096, 4'000, 2'000)),
              testing::Not(testing::Contains("copy-not-asynchronous")));
}

}  // namespace
}  // namespace parbench
