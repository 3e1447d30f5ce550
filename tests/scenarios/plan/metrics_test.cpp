// Metrics of timelines made by hand, whose figures can be counted on a sheet of paper.
#include "scenarios/plan/metrics.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

#include "tests/scenarios/plan/made_timeline.h"

namespace parbench {
namespace {

using ::testing::ElementsAre;

/// The whole nanoseconds that a metric stands for.
Nanoseconds ns(double seconds) { return nanoseconds_of(seconds); }

std::vector<Nanoseconds> ns(const std::vector<double>& seconds) {
  std::vector<Nanoseconds> times;
  for (const double one : seconds) times.push_back(ns(one));
  return times;
}

TEST(Metrics, OfADeviceAreUnionsOverItsLanes) {
  MadeTimeline timeline;
  const auto compute = timeline.lane("a", "compute");
  const auto copy = timeline.lane("a", "copy");
  timeline.task(compute, {10, 30});
  timeline.task(copy, {25, 40}, {.kind = TaskKind::copy});
  timeline.task(compute, {50, 60});
  timeline.task(timeline.lane("b"), {0, 100});
  const TimelineMetrics metrics = metrics_of(timeline.made());
  ASSERT_EQ(metrics.devices.size(), 2U);
  const DeviceMetrics& a = metrics.devices[0];
  EXPECT_EQ(a.device, "a");
  EXPECT_EQ(ns(a.busy), 40);
  EXPECT_EQ(ns(a.idle), 60);
  EXPECT_EQ(ns(a.bubble), 10) << "between 40 and 50";
  EXPECT_EQ(ns(a.waits.queue), 20) << "before both computations";
  EXPECT_EQ(ns(a.waits.total()), 20) << "what follows the last call waits for nothing";
  EXPECT_EQ(ns(a.compute), 30);
  EXPECT_EQ(ns(a.copy), 15);
  EXPECT_EQ(ns(a.communication), 0);
  EXPECT_EQ(ns(a.overlapped), 5);
  EXPECT_EQ(ns(a.exposed_copy), 10);
  EXPECT_EQ(ns(a.exposed_communication), 0);
  EXPECT_EQ(ns(metrics.devices[1].idle), 0);
  EXPECT_EQ(ns(metrics.span), 100);
}

TEST(Metrics, CountTimeOnceWhereStreamsOfOneKindOverlap) {
  MadeTimeline timeline;
  timeline.task(timeline.lane("a", "1"), {0, 10}, {.kind = TaskKind::communication});
  timeline.task(timeline.lane("a", "2"), {4, 12}, {.kind = TaskKind::communication});
  timeline.task(timeline.lane("a", "3"), {6, 8}, {.kind = TaskKind::copy});
  const TimelineMetrics metrics = metrics_of(timeline.made());
  EXPECT_EQ(ns(metrics.devices[0].communication), 12);
  EXPECT_EQ(ns(metrics.devices[0].exposed_communication), 12) << "a copy hides no communication";
  EXPECT_EQ(ns(metrics.devices[0].exposed_copy), 2);
  EXPECT_EQ(ns(metrics.devices[0].busy), 12);
}

TEST(Metrics, OfAnIdealPipelineHaveTheRatiosOfTheFormulas) {
  constexpr int stages = 4;
  constexpr int micro_batches = 10;
  MadeTimeline timeline;
  for (int stage = 0; stage < stages; ++stage) {
    timeline.lane("device " + std::to_string(stage));
    for (int micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
      const Nanoseconds begin = Nanoseconds{7} * (stage + micro_batch);
      timeline.task(stage, {begin, begin + 7});
    }
  }
  const TimelineMetrics metrics = metrics_of(timeline.made());
  EXPECT_DOUBLE_EQ(metrics.bubble_ratio.of_total, (stages - 1.0) / (micro_batches + stages - 1));
  EXPECT_DOUBLE_EQ(metrics.bubble_ratio.of_busy, (stages - 1.0) / micro_batches);
}

TEST(Metrics, DivideWhatIsSentByTheTimeOfCommunication) {
  MadeTimeline timeline;
  const auto a = timeline.lane("a");
  const auto b = timeline.lane("b");
  timeline.task(a, {0, 50});
  EXPECT_EQ(metrics_of(timeline.made()).bus_bandwidth, 0);
  timeline.collective({{a, {50, 90}}, {b, {50, 90}}}, {}, 1600);  // an all-reduce of 800 bytes
  EXPECT_DOUBLE_EQ(metrics_of(timeline.made()).bus_bandwidth, 800 / 40e-9);
}

TEST(Metrics, GiveTheTimeWithEachNumberOfBusyStreams) {
  MadeTimeline timeline;
  timeline.task(timeline.lane("a", "1"), {5, 30});
  timeline.task(timeline.lane("a", "2"), {10, 20});
  timeline.task(timeline.lane("b"), {15, 40});
  EXPECT_THAT(ns(metrics_of(timeline.made()).streams_busy), ElementsAre(5, 15, 15, 5));
}

TEST(Metrics, DivideTheGapBeforeACallByWhatItWaitedFor) {
  MadeTimeline timeline;
  const auto first = timeline.lane("a");
  const auto second = timeline.lane("b");
  const auto cause = timeline.task(first, {2, 20});
  timeline.task(second, {0, 10});
  timeline.task(second, {33, 40}, {.after = {cause}, .enqueued = 28});
  const TimelineMetrics metrics = metrics_of(timeline.made());
  EXPECT_EQ(ns(metrics.lanes[1].waits.dependency), 10) << "from 10 to 20";
  EXPECT_EQ(ns(metrics.lanes[1].waits.host), 8) << "to 28";
  EXPECT_EQ(ns(metrics.lanes[1].waits.queue), 5) << "to 33";
  EXPECT_EQ(ns(metrics.lanes[0].waits.queue), 2)
      << "the first call of a lane waits from the beginning on";
  EXPECT_EQ(ns(metrics.lanes[0].waits.total()), 2);
}

TEST(Metrics, SeeNoGapWhereALaneWasBusy) {
  MadeTimeline timeline;
  const auto first = timeline.lane("a");
  const auto second = timeline.lane("b");
  const auto cause = timeline.task(first, {0, 5});
  timeline.task(second, {0, 10});
  timeline.task(second, {10, 20}, {.after = {cause}, .enqueued = 8});
  EXPECT_EQ(ns(metrics_of(timeline.made()).lanes[1].waits.total()), 0);
}

TEST(Metrics, FollowTheCriticalPathThroughDependenciesAndLanes) {
  MadeTimeline timeline;
  const auto first = timeline.lane("a");
  const auto link = timeline.lane("a", "copy");
  const auto second = timeline.lane("b");
  const auto forward = timeline.task(first, {0, 10});
  const auto transfer = timeline.task(link, {11, 15}, {.kind = TaskKind::copy, .after = {forward}});
  timeline.task(first, {10, 14});
  timeline.task(second, {0, 12});
  timeline.task(second, {17, 30}, {.after = {transfer}});
  timeline.task(second, {30, 31});
  const CriticalPath path = metrics_of(timeline.made()).critical_path;
  EXPECT_EQ(ns(path.compute), 10 + 13 + 1);
  EXPECT_EQ(ns(path.copy), 4);
  EXPECT_EQ(ns(path.queue), 1 + 2);
  EXPECT_EQ(ns(path.host), 0);
  EXPECT_EQ(ns(path.total()), 31);
}

TEST(Metrics, LetTheCriticalPathEndAtTheHostThatEnqueuedTooLate) {
  MadeTimeline timeline;
  const auto lane = timeline.lane("a");
  timeline.task(lane, {1, 3});
  timeline.task(lane, {11, 13}, {.enqueued = 10});
  timeline.task(lane, {13, 15}, {.enqueued = 12});
  const CriticalPath path = metrics_of(timeline.made()).critical_path;
  EXPECT_EQ(ns(path.host), 10);
  EXPECT_EQ(ns(path.queue), 1);
  EXPECT_EQ(ns(path.compute), 4);
}

TEST(Metrics, ATaskWaitsForAllLanesOfACollective) {
  MadeTimeline timeline;
  const auto first = timeline.lane("a");
  const auto second = timeline.lane("b");
  const auto reduced = timeline.collective({{first, {0, 10}}, {second, {0, 20}}});
  timeline.task(first, {22, 30}, {.after = {reduced}});
  const TimelineMetrics metrics = metrics_of(timeline.made());
  EXPECT_EQ(ns(metrics.lanes[0].waits.dependency), 10);
  EXPECT_EQ(ns(metrics.lanes[0].waits.queue), 2);
  EXPECT_EQ(ns(metrics.critical_path.communication), 20);
}

TEST(Metrics, ACollectiveWaitsForTheLastRank) {
  MadeTimeline timeline;
  const auto first = timeline.lane("a");
  const auto second = timeline.lane("b");
  const auto reduced = timeline.collective({{first, {0, 10}}, {second, {0, 20}}});
  timeline.collective({{first, {15, 40}}, {second, {22, 30}}}, {reduced});
  const TimelineMetrics metrics = metrics_of(begin_together(timeline.made()));
  EXPECT_EQ(ns(metrics.lanes[0].waits.dependency), 10) << "until the other rank had ended";
  EXPECT_EQ(ns(metrics.lanes[0].waits.queue), 2);
  EXPECT_EQ(ns(metrics.critical_path.communication), 20 + 18);
  EXPECT_EQ(ns(metrics.critical_path.queue), 2);
}

TEST(Metrics, AMessageWaitsForWhatTheOtherSideDidBefore) {
  MadeTimeline timeline;
  const auto sender = timeline.lane("a");
  const auto receiver = timeline.lane("b");
  const auto produced = timeline.task(sender, {0, 2});
  timeline.task(receiver, {0, 10});
  timeline.collective({{sender, {2, 13}}, {receiver, {11, 13}}}, {produced});
  const TimelineMetrics metrics = metrics_of(begin_together(timeline.made()));
  EXPECT_EQ(ns(metrics.lanes[0].waits.dependency), 8) << "the receiver computed";
  EXPECT_EQ(ns(metrics.lanes[0].waits.queue), 1);
  EXPECT_EQ(ns(metrics.critical_path.compute), 10);
  EXPECT_EQ(ns(metrics.critical_path.communication), 2);
}

TEST(Metrics, WhatIsSentAheadWaitsForItsOwnLane) {
  MadeTimeline timeline;
  const auto sender = timeline.lane("a");
  const auto receiver = timeline.lane("b");
  timeline.task(receiver, {0, 6});
  const auto sent = timeline.collective({{sender, {0, 2}}, {receiver, {6, 9}}});
  timeline.collective({{sender, {3, 5}}, {receiver, {9, 11}}}, {sent});
  const TimelineMetrics metrics = metrics_of(begin_together(timeline.made()));
  EXPECT_EQ(ns(metrics.lanes[0].waits.dependency), 0);
  EXPECT_EQ(ns(metrics.lanes[0].waits.queue), 1);
  EXPECT_EQ(ns(metrics.critical_path.compute), 6);
}

/// Clocks of ranks differ: by them what a call waited for began after it. No time counts twice or
/// backwards.
TEST(Metrics, ACauseMaySeemToBeginBehindWhatItHeldUp) {
  MadeTimeline timeline;
  const auto lane = timeline.lane("a");
  const auto ahead = timeline.lane("b");
  timeline.task(lane, {0, 8});
  const auto cause = timeline.task(ahead, {12, 15}, {.kind = TaskKind::copy});
  timeline.task(lane, {10, 20}, {.after = {cause}});
  const TimelineMetrics metrics = metrics_of(timeline.made());
  EXPECT_EQ(ns(metrics.lanes[0].waits.dependency), 2) << "all of the gap, and no more";
  EXPECT_EQ(ns(metrics.lanes[0].waits.queue), 0);
  EXPECT_EQ(ns(metrics.critical_path.compute), 10);
  EXPECT_EQ(ns(metrics.critical_path.copy), 0);
  EXPECT_EQ(ns(metrics.critical_path.queue), 10);
  EXPECT_EQ(ns(metrics.critical_path.total()), 20);
}

TEST(Metrics, OnlyTheFirstCallOfATaskWaitsForOtherTasks) {
  MadeTimeline timeline;
  const auto lane = timeline.lane("a");
  const auto other = timeline.lane("b");
  const auto late = timeline.task(other, {0, 10});
  const auto task = timeline.task(lane, {10, 12}, {.after = {late}});
  timeline.call(task, {15, 20}, {});
  const TimelineMetrics metrics = metrics_of(timeline.made());
  EXPECT_EQ(ns(metrics.lanes[0].waits.dependency), 10);
  EXPECT_EQ(ns(metrics.lanes[0].waits.queue), 3);
}

TEST(Metrics, LeaveOutWhatIsBeforeTheMeasuredTime) {
  MadeTimeline timeline;
  const auto lane = timeline.lane("a");
  timeline.task(lane, {30, 50}, {.enqueued = 5});   // what woke the lane took until 28
  timeline.task(lane, {60, 70}, {.enqueued = 58});  // the host was late
  timeline.made().begin = 28;
  const TimelineMetrics metrics = metrics_of(timeline.made());
  EXPECT_EQ(ns(metrics.span), 42);
  EXPECT_EQ(ns(metrics.devices[0].busy), 30);
  EXPECT_EQ(ns(metrics.devices[0].idle), 12);
  EXPECT_EQ(ns(metrics.devices[0].waits.queue), 2 + 2);
  EXPECT_EQ(ns(metrics.devices[0].waits.host), 8);
  EXPECT_EQ(ns(metrics.critical_path.host), 58 - 28);
  EXPECT_THAT(ns(metrics.streams_busy), ElementsAre(12, 30));
}

TEST(Metrics, AddUpCallsOfOneNameAndKind) {
  MadeTimeline timeline;
  const auto a = timeline.lane("a");
  const auto b = timeline.lane("b");
  timeline.task(a, {0, 10}, {.enqueued = 1, .name = "add", .flops = 3});
  timeline.task(b, {0, 30}, {.enqueued = 2, .name = "multiply", .flops = 5});
  timeline.task(a, {10, 15}, {.enqueued = 4, .name = "add", .flops = 7});
  timeline.task(b, {30, 32}, {.kind = TaskKind::copy, .enqueued = 8, .name = "add"});
  Timeline made = timeline.made();
  made.calls.front().work.bytes = 11;
  made.calls[2].work.bytes = 13;
  const std::vector<CallMetrics> calls = metrics_of(made).calls;
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].name, "multiply") << "the longest first";
  EXPECT_EQ(calls[0].count, 1);
  EXPECT_EQ(calls[1].name, "add");
  EXPECT_EQ(calls[1].kind, TaskKind::compute);
  EXPECT_EQ(calls[1].count, 2);
  EXPECT_EQ(ns(calls[1].seconds), 15);
  EXPECT_EQ(ns(calls[1].enqueueing), 5);
  EXPECT_EQ(calls[1].flops, 10);
  EXPECT_EQ(calls[1].bytes, 24);
  EXPECT_EQ(calls[2].kind, TaskKind::copy);
  EXPECT_EQ(ns(calls[2].seconds), 2);
  made.graph.submit = SubmitMode::graph;
  EXPECT_EQ(metrics_of(made).calls[1].enqueueing, 0) << "the host launches the graph, not calls";
}

TEST(Metrics, DivideCallsOfOneNameByLayerAndKernel) {
  MadeTimeline timeline;
  const auto lane = timeline.lane("a");
  for (const Nanoseconds begin : {0, 10, 20, 30}) timeline.task(lane, {begin, begin + 4});
  Timeline made = timeline.made();
  for (std::size_t i = 0; i < made.calls.size(); ++i) {
    TimedCall& call = made.calls[i];
    call.layer = i == 1 ? "conv1" : "conv2";
    call.tensors = "source " + std::to_string(i);
    call.kernel = i == 3 ? "jit" : "ref:any";
    call.reference = i < 3;
    call.team_waiting = 1;
  }
  const std::vector<CallMetrics> calls = metrics_of(made).calls;
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].name, "operation");
  EXPECT_EQ(calls[0].layer, "conv2");
  EXPECT_EQ(calls[0].tensors, "source 0") << "of the first";
  EXPECT_EQ(calls[0].kernel, "ref:any");
  EXPECT_TRUE(calls[0].reference);
  EXPECT_EQ(calls[0].count, 2);
  EXPECT_EQ(ns(calls[0].seconds), 8);
  EXPECT_EQ(ns(calls[0].team_waiting), 2);
  EXPECT_EQ(calls[1].layer, "conv1");
  EXPECT_EQ(calls[2].kernel, "jit");
  EXPECT_FALSE(calls[2].reference);
  EXPECT_EQ(calls[2].tensors, "") << "its layer has them";
}

TEST(Metrics, DivideCallsWithoutALayerByTheirTensors) {
  MadeTimeline timeline;
  const auto lane = timeline.lane("a");
  for (const Nanoseconds begin : {0, 10, 20}) timeline.task(lane, {begin, begin + 4});
  Timeline made = timeline.made();
  for (std::size_t i = 0; i < made.calls.size(); ++i) {
    made.calls[i].tensors = i == 0 ? "small" : "large";
  }
  const std::vector<CallMetrics> calls = metrics_of(made).calls;
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].tensors, "large");
  EXPECT_EQ(calls[0].count, 2);
}

TEST(Metrics, HaveTheErrorOfTheClocks) {
  Timeline timeline;
  timeline.clock_error = 17;
  EXPECT_EQ(ns(metrics_of(timeline).clock_error), 17);
}

TEST(BeginTogether, AMessageBeginsWhenBothSidesHaveCome) {
  MadeTimeline timeline;
  const auto a = timeline.lane("a");
  const auto b = timeline.lane("b");
  timeline.collective({{a, {0, 9}}, {b, {6, 9}}});
  timeline.task(a, {9, 12});
  timeline.collective({{a, {12, 20}}, {b, {9, 19}}});
  const Timeline made = begin_together(timeline.made());
  std::vector<TimeSpan> ran;
  for (const TimedCall& call : made.calls) ran.push_back(call.ran);
  EXPECT_THAT(ran, ElementsAre(TimeSpan{6, 9}, TimeSpan{6, 9}, TimeSpan{9, 12}, TimeSpan{12, 20},
                               TimeSpan{12, 19}));
  EXPECT_EQ(made.end, timeline.made().end);
}

TEST(BeginTogether, WhatIsSentAheadKeepsItsTime) {
  MadeTimeline timeline;
  const auto a = timeline.lane("a");
  const auto b = timeline.lane("b");
  timeline.collective({{a, {0, 2}}, {b, {6, 9}}});
  const Timeline made = begin_together(timeline.made());
  EXPECT_EQ(made.calls, timeline.made().calls);
}

TEST(MergeCalls, JoinsTheCallsOfATaskOnEachLane) {
  MadeTimeline timeline;
  const auto a = timeline.lane("a");
  const auto b = timeline.lane("b");
  const auto task = timeline.task(a, {5, 8}, {.enqueued = 2, .flops = 3});
  timeline.task(b, {6, 7}, {.enqueued = 1, .name = "other", .flops = 1});
  timeline.call(task, {9, 12}, {.enqueued = 4, .flops = 5});
  timeline.collective({{a, {12, 13}}, {b, {12, 14}}});
  Timeline made = timeline.made();
  made.calls[0].enqueued.begin = 1;
  made.calls[2].enqueued.begin = 3;
  const Timeline merged = merge_calls(made);
  ASSERT_EQ(merged.calls.size(), 4U);
  EXPECT_EQ(merged.calls[0].task, task);
  EXPECT_EQ(merged.calls[0].lane, a);
  EXPECT_EQ(merged.calls[0].name, "");
  EXPECT_EQ(merged.calls[0].enqueued, (TimeSpan{1, 4}));
  EXPECT_EQ(merged.calls[0].ran, (TimeSpan{5, 12}));
  EXPECT_EQ(merged.calls[0].work.flops, 8);
  EXPECT_EQ(merged.calls[1].lane, b);
  EXPECT_EQ(merged.calls[1].enqueued, (TimeSpan{0, 1}));
  EXPECT_EQ(merged.calls[1].ran, (TimeSpan{6, 7}));
  EXPECT_EQ(merged.calls[1].work.flops, 1);
  EXPECT_EQ(merged.calls[2].ran, (TimeSpan{12, 13})) << "a collective's lanes stay apart";
  EXPECT_EQ(merged.calls[3].ran, (TimeSpan{12, 14}));
  EXPECT_EQ(merged.end, made.end);
  EXPECT_EQ(merged.graph, made.graph);
}

TEST(MergeCalls, CoversCallsThatRanAtOnce) {
  MadeTimeline timeline;
  const auto task = timeline.task(timeline.lane("a"), {5, 20}, {.enqueued = 9});
  timeline.call(task, {3, 12}, {.enqueued = 4});
  const Timeline merged = merge_calls(timeline.made());
  ASSERT_EQ(merged.calls.size(), 1U);
  EXPECT_EQ(merged.calls[0].enqueued, (TimeSpan{0, 9}));
  EXPECT_EQ(merged.calls[0].ran, (TimeSpan{3, 20}));
}

TEST(Nanoseconds, AreTheNearest) {
  EXPECT_EQ(nanoseconds_of(1.6e-9), 2);
  EXPECT_EQ(nanoseconds_of(-1.6e-9), -2);
}

TEST(Metrics, OfNothingAreZero) {
  MadeTimeline timeline;
  timeline.lane("a");
  const TimelineMetrics metrics = metrics_of(timeline.made());
  EXPECT_EQ(ns(metrics.span), 0);
  EXPECT_EQ(ns(metrics.critical_path.total()), 0);
  EXPECT_EQ(metrics.bubble_ratio.of_total, 0);
  EXPECT_THAT(ns(metrics.streams_busy), ElementsAre(0, 0));
}

/// Calls at random times, those of a lane one after the other, each waiting for earlier ones.
Timeline random_timeline(std::mt19937& generator) {
  MadeTimeline timeline;
  const auto below = [&](int max) {
    return std::uniform_int_distribution<int>(0, max - 1)(generator);
  };
  const int lanes = 1 + below(4);
  for (LaneId lane = 0; lane < lanes; ++lane) timeline.lane(lane % 2 == 0 ? "a" : "b");
  std::vector<Nanoseconds> free(static_cast<std::size_t>(lanes));
  std::vector<Nanoseconds> ended;
  for (int i = below(30); i >= 0; --i) {
    const LaneId lane = below(lanes);
    Nanoseconds& lane_free = free[static_cast<std::size_t>(lane)];
    Nanoseconds begin = lane_free;
    MadeTimeline::More more{.kind = static_cast<TaskKind>(below(3)), .after = {}};
    if (!ended.empty() && below(2) == 0) {
      more.after.push_back(below(static_cast<int>(ended.size())));
      begin = std::max(begin, ended[static_cast<std::size_t>(more.after.back())]);
    }
    more.enqueued = begin + below(5);
    begin = more.enqueued + below(3);
    lane_free = begin + 1 + below(20);
    timeline.task(lane, {begin, lane_free}, more);
    ended.push_back(lane_free);
  }
  Nanoseconds first = timeline.made().end;
  for (const TimedCall& call : timeline.made().calls) first = std::min(first, call.ran.begin);
  timeline.made().begin = below(static_cast<int>(first) + 1);
  return timeline.made();
}

TEST(Metrics, AddUpToTheWholeWhateverRan) {
  std::mt19937 generator(7);
  for (int i = 0; i < 500; ++i) {
    const Timeline timeline = random_timeline(generator);
    const TimelineMetrics metrics = metrics_of(timeline);
    const Nanoseconds whole = timeline.length();
    EXPECT_EQ(ns(metrics.span), whole);
    EXPECT_EQ(ns(metrics.critical_path.total()), whole);
    const std::vector<Nanoseconds> busy = ns(metrics.streams_busy);
    EXPECT_EQ(std::accumulate(busy.begin(), busy.end(), Nanoseconds{0}), whole);
    for (const DeviceMetrics& device : metrics.devices) {
      EXPECT_EQ(ns(device.busy) + ns(device.idle), whole);
      EXPECT_LE(ns(device.bubble), ns(device.waits.total()));
      EXPECT_LE(ns(device.waits.total()), ns(device.idle));
      EXPECT_LE(device.exposed_copy, device.copy);
      EXPECT_LE(device.exposed_communication, device.communication);
      EXPECT_LE(device.overlapped, device.compute);
    }
    for (std::size_t lane = 0; lane < metrics.lanes.size(); ++lane) {
      Nanoseconds ran = 0;
      Nanoseconds last = timeline.begin;
      for (const TimedCall& call : timeline.calls) {
        if (static_cast<std::size_t>(call.lane) != lane) continue;
        ran += call.ran.length();
        last = std::max(last, call.ran.end);
      }
      EXPECT_EQ(ns(metrics.lanes[lane].waits.total()) + ran, last - timeline.begin);
    }
  }
}

}  // namespace
}  // namespace parbench
