// Rules about devices that wait for each other's results.
#include "reports/findings/dependency_rules.h"

#include <gmock/gmock.h>

#include "reports/findings/rank_rules.h"
#include "tests/reports/findings/made_case.h"
#include "tests/scenarios/plan/made_timeline.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// d1 waits for d0 from 30 to `until`, first computes something else, and again at the end.
MadeCase waiting(Nanoseconds until, double streams_at_once = 2, double communicating = 0) {
  MadeTimeline timeline;
  const LaneId a = timeline.lane("d0");
  const LaneId b = timeline.lane("d1");
  const TaskId first = timeline.task(a, {0, until});
  timeline.task(b, {0, 30});
  timeline.task(b, {until + 2, 90}, {.after = {first}});
  const TaskId second = timeline.task(a, {until, 91});
  timeline.task(b, {91, 100}, {.after = {second}});
  MadeCase made("a", 100e-9,
                {{.compute = 91e-9}, {.compute = 70e-9, .communicating = communicating}});
  return made.streams(static_cast<std::size_t>(streams_at_once), 161e-9).timeline(timeline.made());
}

TEST(DependencyRules, NameWhoWaitsForWhom) {
  EXPECT_THAT(text("waits-for-device", {waiting(50)}),
              AllOf(HasSubstr("d1 waits for d0 for 21% of the time"),
                    HasSubstr("longest for 'task 0' (20.00 ns)")));
  EXPECT_THAT(found("waits-for-device", {waiting(36)}), IsEmpty()) << "7% of the time";
  EXPECT_THAT(found("waits-for-device", {waiting(50).threads({.denied = 0.3, .others = 1})}),
              IsEmpty())
      << "other programs had the cores";
  EXPECT_THAT(found("waits-for-device", {waiting(50, 1)}), IsEmpty()) << "devices in turn";
  EXPECT_THAT(found("waits-for-device", {waiting(50).parameter("pieces", std::int64_t{3})}),
              IsEmpty())
      << "a pipeline";
  EXPECT_THAT(found("waits-for-device", {waiting(50).parameter("cut", "even")}), IsEmpty())
      << "stages";
  EXPECT_THAT(found("waits-for-device", {waiting(50, 2, 1e-9)}), IsEmpty()) << "an exchange";
}

TEST(DependencyRules, OwnDeviceIsNotWaitedFor) {
  MadeTimeline timeline;
  const LaneId compute = timeline.lane("d0");
  const LaneId copies = timeline.lane("d0", "copy");
  timeline.lane("d1");
  const TaskId first = timeline.task(compute, {0, 40});
  timeline.task(copies, {60, 100}, {.after = {first}});
  const MadeCase made =
      MadeCase("a", 100e-9, {{.compute = 40e-9}}).streams(2, 80e-9).timeline(timeline.made());
  EXPECT_THAT(found("waits-for-device", {made}), IsEmpty());
}

TEST(DependencyRules, NoticeCommunicationThatNothingHides) {
  const auto communicating = [](double seconds, double exposed) {
    return MadeCase("a", 10,
                    {{.compute = 8}, {.compute = 8, .communicating = seconds, .exposed = exposed}})
        .parameter("samples", std::int64_t{16});
  };
  EXPECT_THAT(text("exposed-communication", {communicating(2, 1)}),
              AllOf(HasSubstr("d1 computes nothing for 10% of the time"),
                    HasSubstr("50% of its communication is exposed"), HasSubstr("--samples")));
  EXPECT_THAT(
      found("exposed-communication", {communicating(2, 1).threads({.denied = 0.09, .others = 1})}),
      ElementsAre("s/a/samples:16"));
  EXPECT_THAT(
      found("exposed-communication", {communicating(2, 1).threads({.denied = 0.2, .others = 1})}),
      IsEmpty())
      << "a device that other programs slow down keeps the other one waiting";
  EXPECT_THAT(found("exposed-communication", {communicating(2, 0.4)}), IsEmpty());
  EXPECT_THAT(found("exposed-communication", {communicating(0, 0)}), IsEmpty());
  const MadeCase exchange("a", 10, {{.compute = 4, .communicating = 6, .exposed = 6}});
  EXPECT_THAT(found("exposed-communication", {exchange}), IsEmpty()) << "nothing else could run";
}

/// Two devices compute up to 60; the first one then adds gradients and updates up to `end`, while
/// the other one, if it `updates`, does the same.
MadeCase updating(const std::string& strategy, Nanoseconds end, bool both_update) {
  MadeTimeline timeline;
  const LaneId a = timeline.lane("d0");
  const LaneId b = timeline.lane("d1");
  for (const LaneId lane : {a, b}) {
    timeline.task(lane, {0, 20}, {.phase = "forward"});
    timeline.task(lane, {20, 60}, {.phase = "backward"});
    if (lane == b && !both_update) continue;
    timeline.task(lane, {60, end - 5}, {.kind = TaskKind::communication});
    timeline.task(lane, {end - 5, end}, {.phase = "update"});
  }
  const double own = seconds_of(end);
  return MadeCase(strategy, own, {{.compute = own}, {.compute = both_update ? own : 60e-9}})
      .parameter("samples", std::int64_t{16})
      .timeline(timeline.made());
}

TEST(DependencyRules, NameADeviceThatUpdatesAlone) {
  EXPECT_THAT(text("central-device", {updating("tower", 90, false)}),
              AllOf(HasSubstr("d0 alone adds gradients, updates and sends for 33% of the time"),
                    HasSubstr("while d1 is idle; d0 works 50% longer than d1"),
                    HasSubstr("try: a strategy in which every device updates")));
  EXPECT_THAT(found("central-device", {updating("tower", 66, false)}), IsEmpty()) << "9%";
  EXPECT_THAT(found("central-device", {updating("even", 90, true)}), IsEmpty());
}

TEST(DependencyRules, NameNoSlowestRankWhereADeviceUpdatesAlone) {
  const Report report;
  const Roles roles(report, "s");
  const auto of_ranks = [](const MadeCase& made) {
    CaseResult one = made.made();
    for (int i = 0; i < 8; ++i) {
      Sample& sample = one.samples.emplace_back();
      sample.seconds = 1;
      sample.rank_waits = {0.1, 0.3};
    }
    return one;
  };
  EXPECT_FALSE(slowest_rank(of_ranks(updating("tower", 90, false)), roles));
  EXPECT_TRUE(slowest_rank(of_ranks(updating("even", 90, true)), roles));
}

TEST(DependencyRules, CompareADeviceThatUpdatesAloneWithTheMeanOfTheOthers) {
  MadeTimeline timeline;
  const LaneId first = timeline.lane("d0");
  for (const LaneId lane : {first, timeline.lane("d1"), timeline.lane("d2")}) {
    timeline.task(lane, {0, lane == first ? 50 : 40}, {.phase = "backward"});
  }
  timeline.task(first, {50, 100}, {.phase = "update"});
  const MadeCase made =
      MadeCase("a", 100e-9, {{.compute = 100e-9}, {.compute = 30e-9}, {.compute = 50e-9}})
          .timeline(timeline.made());
  EXPECT_THAT(text("central-device", {made}),
              AllOf(HasSubstr("for 50% of the time, while the others are idle"),
                    HasSubstr("d0 works 150% longer than their mean")));
}

TEST(DependencyRules, AdviseTheFastestStrategyInWhichAllUpdate) {
  const MadeCase central = updating("tower", 90, false);
  const auto shown = [&](std::vector<MadeCase> others) {
    others.insert(others.begin(), central);
    return text("central-device", others);
  };
  EXPECT_THAT(shown({updating("slow", 89, true), updating("fast", 80, true)}),
              HasSubstr("try: --strategy fast, in which all devices update"));
  EXPECT_THAT(shown({updating("slower", 100, true)}), Not(HasSubstr("try:")));
  EXPECT_THAT(shown({updating("other", 80, false)}), HasSubstr("try: a strategy in which"));
  EXPECT_THAT(shown({updating("fast", 80, true).parameter("host", "locked")}),
              HasSubstr("--strategy fast"))
      << "a parameter that only it has";
}

TEST(DependencyRules, CountTheTimeInWhichNoOtherDeviceRuns) {
  MadeTimeline timeline;
  const LaneId a = timeline.lane("d0");
  const LaneId b = timeline.lane("d1");
  timeline.task(a, {0, 50}, {.phase = "backward"});
  timeline.task(b, {0, 50}, {.phase = "backward"});
  timeline.task(a, {50, 100}, {.phase = "update"});
  timeline.task(b, {55, 98}, {.kind = TaskKind::communication});
  const MadeCase made =
      MadeCase("a", 100e-9, {{.compute = 100e-9}, {.compute = 93e-9}}).timeline(timeline.made());
  EXPECT_THAT(found("central-device", {made}), IsEmpty()) << "7 of 100 ns";
}

}  // namespace
}  // namespace parbench::report
