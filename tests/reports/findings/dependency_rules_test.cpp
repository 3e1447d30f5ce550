// Rules about devices that wait for each other's results.
#include "reports/findings/dependency_rules.h"

#include <gmock/gmock.h>

#include "tests/reports/findings/made_case.h"
#include "tests/scenarios/plan/made_timeline.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  EXPECT_THAT(found("exposed-communication", {communicating(2, 0.4)}), IsEmpty());
  EXPECT_THAT(found("exposed-communication", {communicating(0, 0)}), IsEmpty());
  const MadeCase exchange("a", 10, {{.compute = 4, .communicating = 6, .exposed = 6}});
  EXPECT_THAT(found("exposed-communication", {exchange}), IsEmpty()) << "nothing else could run";
}

}  // namespace
}  // namespace parbench::report
