// Plans over devices of several ranks: messages, what waits for other ranks, and this rank's part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/execution/executor.h"
#include "bench/execution/interrupt.h"
#include "bench/ranks/rank_runner.h"
#include "kernels/core/ranks/remote_device.h"
#include "reports/statistics/statistics.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/op_set.h"
#include "scenarios/framework/plan.h"
#include "tests/bench/ranks/imagined_ranks.h"
#include "tests/bench/ranks/linked_ranks.h"
#include "tests/kernels/function_op.h"
#include "tests/scenarios/fake_device.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/logging_stream.h"
#include "tests/support/other_device.h"

namespace parbench::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::MatchesRegex;
using namespace std::chrono_literals;

/// A device of each of two ranks as one of them sees them, with a lane each.
struct TwoRanks {
  explicit TwoRanks(RankTeam& team) : team_(team), plan(&team) {
    const Machine machine;
    own = std::move(machine.open("cpu:0", {.name_prefix = "host/", .rank = team.rank()}).front());
    DeviceInfo info = own->info();
    info.rank = 1 - team.rank();
    other = std::make_unique<RemoteDevice>(info, *own, true);
    streams.push_back(device(0).make_stream(StreamKind::copy));
    streams.push_back(device(1).make_stream(StreamKind::copy));
    lanes = {plan.add_lane("0", *streams[0]), plan.add_lane("1", *streams[1])};
  }

  [[nodiscard]] Device& device(int rank) const { return rank == team_.rank() ? *own : *other; }

  RankTeam& team_;
  std::unique_ptr<Device> own;
  std::unique_ptr<Device> other;
  std::vector<std::unique_ptr<Stream>> streams;
  Plan plan;
  std::vector<LaneId> lanes;
};

TEST(RankPlan, SendsCopiesBetweenRanksOnTheLanesOfBoth) {
  run_ranks(2, [](RankTeam& team) {
    TwoRanks two(team);
    EXPECT_THAT(copying_lanes(two.plan, two.lanes[0], two.lanes[1]),
                ElementsAre(two.lanes[0], two.lanes[1]));
    const Buffer there = two.device(0).allocate(64, MemoryKind::device);
    const Buffer here = two.device(1).allocate(64, MemoryKind::device);
    if (team.rank() == 0) std::fill_n(there.data(), 64, std::byte{7});
    two.plan.add({.name = "copy", .lanes = two.lanes},
                 {CopyCall{.destination = here, .source = there}});
    // The plan begins with a barrier, which this link has not: its calls alone.
    enqueue(two.plan.calls(0).front(), two.plan.streams());
    for (const auto& stream : two.streams) stream->synchronize();
    if (team.rank() == 1) {
      EXPECT_EQ(here.data()[63], std::byte{7});
    }
  });
}

TEST(RankPlan, TakesTheMemoryForMessagesOfALaneBeforeItRuns) {
  ImaginedRanks ranks(2);
  OtherDevice device(std::move(cpu_devices(1).front()), "other:0");
  const auto stream = device.make_stream(StreamKind::compute, 0, 1);
  Plan plan(&ranks);
  const int before = device.allocations;
  plan.add_lane("0", *stream);
  const int prepared = device.allocations;
  EXPECT_GT(prepared, before);
  HostWork work([] {});
  stream->perform(work);
  stream->synchronize();
  EXPECT_EQ(device.allocations, prepared);
}

TEST(RankPlan, WaitsForATaskOfAnotherRankByAMessage) {
  run_ranks(2, [](RankTeam& team) {
    TwoRanks two(team);
    const TaskId first = two.plan.add({.name = "first", .lanes = {two.lanes[0]}}, {});
    const TaskId second =
        two.plan.add({.name = "second", .lanes = {two.lanes[1]}, .after = {first}}, {});
    const TaskId third =
        two.plan.add({.name = "third", .lanes = {two.lanes[1]}, .after = {first}}, {});
    const PlanGraph& graph = two.plan.graph();
    ASSERT_EQ(graph.tasks.size(), 4U) << "one message serves both";
    const TaskId message = second - 1;
    EXPECT_THAT(graph.task(message).lanes, ElementsAre(two.lanes[0], two.lanes[1]));
    EXPECT_THAT(graph.task(message).after, ElementsAre(first));
    EXPECT_THAT(graph.task(second).after, ElementsAre(message));
    EXPECT_THAT(graph.task(third).after, ElementsAre(message));
  });
}

/// A device of each rank in a context.
std::vector<std::unique_ptr<Device>> devices_of(const RankTeam& team) {
  const Machine machine;
  auto own = std::move(machine.open("cpu:0", {.rank = team.rank()}).front());
  Device& twin = *own;
  std::vector<std::unique_ptr<Device>> devices;
  for (int rank = 0; rank < team.size(); ++rank) {
    DeviceInfo info = twin.info();
    info.rank = rank;
    devices.push_back(rank == team.rank() ? std::move(own)
                                          : std::make_unique<RemoteDevice>(info, twin, true));
  }
  return devices;
}

TEST(RankPlan, LetsSomeRanksAddUpNumbersByThemselves) {
  run_ranks(3, [](RankTeam& team) {
    Context context(devices_of(team), {.ranks = &team});
    EXPECT_EQ(context.communicator({1}), nullptr) << "a sum of one device is no exchange";
    Communicator* outer = context.communicator({0, 2});
    ASSERT_NE(outer, nullptr);
    EXPECT_EQ(context.communicator({0, 2}), outer) << "made once";
    EXPECT_NE(context.communicator({2, 0}), outer);
    EXPECT_TRUE(outer->offers(Collective::all_reduce));
    EXPECT_FALSE(outer->offers(Collective::broadcast));
    EXPECT_TRUE(context.communicator({0, 1, 2})->offers(Collective::broadcast));

    std::vector<Buffer> memory;
    for (const int device : {0, 2}) {
      memory.push_back(context.device(device).allocate(sizeof(float), MemoryKind::device));
    }
    const std::size_t place = team.rank() == 2 ? 1 : 0;
    auto* const number = reinterpret_cast<float*>(memory[place].data());
    *number = 1.0F + static_cast<float>(team.rank());
    const std::vector<Stream*> streams{&context.stream(0, StreamKind::compute),
                                       &context.stream(2, StreamKind::compute)};
    const std::vector<BufferView> data{memory[0], memory[1]};
    outer->enqueue(Collective::all_reduce, streams, data);
    for (Stream* stream : streams) stream->synchronize();
    EXPECT_EQ(*number, team.rank() == 1 ? 2.0F : 4.0F);
    if (team.rank() != 1) {
      EXPECT_THROW(outer->enqueue(Collective::broadcast, streams, data), std::invalid_argument);
    }
  });
}

TEST(RankPlan, RefusesRanksWithDifferentPlans) {
  run_ranks(2, [](RankTeam& team) {
    TwoRanks two(team);
    two.plan.add({.name = team.rank() == 0 ? "one" : "other", .lanes = {two.lanes[0]}}, {});
    try {
      static_cast<void>(make_rank_runner(team, two.plan, SubmitMode::one_thread));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), MatchesRegex("rank 1 .* and rank 0 .* have different plans: a "
                                             "scenario must build the same plan on all ranks"));
    }
  });
}

TEST(RankPlan, RefusesGraphsOfDevicesWithMemoryOfTheirOwn) {
  run_ranks(2, [](RankTeam& team) {
    OtherDevice device(std::move(cpu_devices(1).front()), "other:0");
    const auto stream = device.make_stream(StreamKind::copy, 0, 1);
    Plan plan(&team);
    plan.add_lane("0", *stream);
    EXPECT_THROW(static_cast<void>(make_rank_runner(team, plan, SubmitMode::graph)), Unsupported);
  });
}

/// Rank 1 comes to the beginning 300 ms after rank 0, and sends its message 100 ms after rank 0
/// waits for it.
TEST(RankPlan, CountsWaitsForMessagesApartFromThoseForTheBeginning) {
  std::array<std::atomic<bool>, 2> waits{};  // of rank 0, by what is awaited
  const auto sleep_after = [&](Awaited what, std::chrono::milliseconds time) {
    while (!waits.at(static_cast<std::size_t>(what))) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(time);
  };
  const auto body = [&](RankTeam& team) {
    TwoRanks two(team);
    const Buffer there = two.device(0).allocate(64, MemoryKind::device);
    const Buffer here = two.device(1).allocate(64, MemoryKind::device);
    FunctionOp late_start([&] { sleep_after(Awaited::barrier, 300ms); });
    FunctionOp late_message([&] { sleep_after(Awaited::message, 100ms); });
    two.plan.add({.name = "late", .lanes = {two.lanes[1]}},
                 {OpCall{.op = &late_message, .views = {}}});
    two.plan.add({.name = "copy", .kind = TaskKind::copy, .lanes = {two.lanes[1], two.lanes[0]}},
                 {CopyCall{.destination = there, .source = here}});
    const auto runner = make_rank_runner(team, two.plan, SubmitMode::one_thread);
    team.meet();
    for (auto& one : waits) one = false;
    team.meet();
    if (team.rank() == 1) late_start.enqueue(*two.streams[1], {});
    const Timing timing = runner->run();
    if (!team.leads()) return;
    ASSERT_EQ(timing.rank_waits.size(), 2U);
    EXPECT_GE(timing.rank_waits[0], 0.1);
    EXPECT_LE(timing.rank_waits[0], timing.seconds) << "without the wait for the beginning";
    EXPECT_LT(timing.rank_waits[1], timing.rank_waits[0]);
    EXPECT_GT(timing.start_skew, 0.1);
  };
  run_ranks(2, body, [&](int rank, Awaited what) {
    if (rank == 0) waits.at(static_cast<std::size_t>(what)) = true;
  });
}

/// A plan with a task of each rank. `times`: how long each execution of them takes on rank 1, the
/// last one for all that follow; rank 0 takes half of it.
class UnevenRanks {
 public:
  UnevenRanks(RankTeam& team, SubmitMode mode, std::vector<std::chrono::milliseconds> times)
      : two_(team), op_([this, part = 2 - team.rank(), times = std::move(times)] {
          const auto next = static_cast<std::size_t>(executions_++);
          std::this_thread::sleep_for(times[std::min(next, times.size() - 1)] / part);
        }) {
    for (const std::string name : {"0", "1"}) {
      two_.plan.add({.name = name, .lanes = {two_.lanes[name == "1" ? 1 : 0]}},
                    {OpCall{.op = &op_, .views = {}}});
    }
    runner_ = make_rank_runner(team, two_.plan, mode);
  }

  [[nodiscard]] PlanRunner& runner() { return *runner_; }
  /// Of this rank's task.
  [[nodiscard]] int executions() const { return executions_; }

 private:
  TwoRanks two_;
  std::atomic<int> executions_ = 0;
  FunctionOp op_;
  std::unique_ptr<PlanRunner> runner_;
};

TEST(RankPlan, TakesTheTimeOfTheSlowestRank) {
  std::array<Timing, 2> timings;
  run_ranks(2, [&](RankTeam& team) {
    UnevenRanks ranks(team, SubmitMode::one_thread, {20ms});
    timings.at(static_cast<std::size_t>(team.rank())) = ranks.runner().run();
    EXPECT_EQ(ranks.executions(), 1);
  });
  EXPECT_GE(timings[0].seconds, 0.02);
  EXPECT_LE(timings[0].seconds, timings[0].wall_seconds);
  EXPECT_EQ(timings[0].seconds, timings[1].seconds);
  EXPECT_EQ(timings[0].wall_seconds, timings[1].wall_seconds);
  EXPECT_EQ(timings[0].rank_waits.size(), 2U);
  EXPECT_EQ(timings[1].rank_waits.size(), 0U) << "rank 0 writes the report";
}

TEST(RankPlan, HasTheSameCostsOnAllRanks) {
  std::array<std::vector<double>, 2> costs;
  run_ranks(2, [&](RankTeam& team) {
    UnevenRanks ranks(team, SubmitMode::one_thread, {20ms});
    EXPECT_THROW(static_cast<void>(ranks.runner().measure_tasks([] { return true; })), Interrupted);
    EXPECT_EQ(ranks.executions(), 0);
    static_cast<void>(ranks.runner().run());
    costs.at(static_cast<std::size_t>(team.rank())) =
        ranks.runner().measure_tasks([] { return false; });
  });
  EXPECT_THAT(costs[0], ElementsAre(Ge(0.01), Ge(0.02)));
  EXPECT_EQ(costs[0], costs[1]);
}

/// Executions that are recorded follow others that are not.
TEST(RankPlan, RecordsTheExecutionNearestToTheSamplesOnAllRanks) {
  std::array<Recording, 2> recordings;
  run_ranks(2, [&](RankTeam& team) {
    UnevenRanks ranks(team, SubmitMode::one_thread, {0ms, 0ms, 10ms, 0ms, 60ms, 0ms, 30ms, 0ms});
    static_cast<void>(ranks.runner().run());
    recordings.at(static_cast<std::size_t>(team.rank())) = ranks.runner().record(3, 0.05);
    EXPECT_EQ(ranks.executions(), 1 + 6);
    EXPECT_EQ(ranks.runner().record(1, 0).seconds.size(), 1U);
    EXPECT_EQ(ranks.executions(), 1 + 6 + 1) << "nothing precedes a single one";
    EXPECT_EQ(ranks.runner().record(0, 0).seconds.size(), 1U);
    EXPECT_EQ(ranks.executions(), 1 + 6 + 2);
  });
  const Recording& recording = recordings[0];
  EXPECT_THAT(recording.seconds, ElementsAre(Ge(0.01), Ge(0.06), Ge(0.03)));
  EXPECT_EQ(recording.seconds, recordings[1].seconds);
  EXPECT_EQ(recording.kept, nearest_index(recording.seconds, 0.05));
  EXPECT_GT(recording.seconds_per_call, 0);
  ASSERT_EQ(recording.timeline.calls.size(), 2U);
  const double kept_seconds = std::array{0.01, 0.06, 0.03}.at(recording.kept);
  for (const TimedCall& call : recording.timeline.calls) {
    EXPECT_GE(seconds_of(call.ran.length()), call.task == 1 ? kept_seconds : kept_seconds / 2);
  }
}

/// Calls `body` on two ranks with a runner of a copy on rank 0, whose stream logs so.
void run_copies(Logging logging,
                const std::function<void(PlanRunner& runner, const LoggingStream& stream)>& body) {
  run_ranks(2, [&](RankTeam& team) {
    FakeDevice device(0);
    LoggingStream stream(device, team.leads() ? logging : Logging::possible);
    Plan plan(&team);
    const LaneId lane = plan.add_lane("0", stream);
    plan.add({.name = "copy", .kind = TaskKind::copy, .lanes = {lane}}, {CopyCall{}});
    const auto runner = make_rank_runner(team, plan, SubmitMode::one_thread);
    body(*runner, stream);
    EXPECT_EQ(stream.log, nullptr);
    EXPECT_NO_THROW(static_cast<void>(runner->run())) << "the ranks are at the same step";
  });
}

TEST(RankPlan, KnowsBeforeThatARankCannotRecord) {
  for (const Logging logging : {Logging::refused, Logging::refused_when_tried}) {
    run_copies(logging, [](PlanRunner& runner, const LoggingStream& /*stream*/) {
      EXPECT_THROW(runner.check_recording(), Unsupported);
    });
  }
  run_copies(Logging::possible, [](PlanRunner& runner, const LoggingStream& /*stream*/) {
    EXPECT_NO_THROW(runner.check_recording());
  });
}

TEST(RankPlan, ExecutesNothingOnAnyRankIfOneCannotRecord) {
  run_copies(Logging::refused_when_tried, [](PlanRunner& runner, const LoggingStream& stream) {
    EXPECT_THROW(static_cast<void>(runner.record(1, 0)), Unsupported);
    EXPECT_EQ(stream.copied_tags, std::vector<ActivityTag>());
  });
}

TEST(RankPlan, GoesOnAfterARecordingThatLacksRecords) {
  run_copies(Logging::excessive, [](PlanRunner& runner, const LoggingStream& /*stream*/) {
    EXPECT_NO_THROW(runner.check_recording());
    EXPECT_THROW(static_cast<void>(runner.record(1, 0)), Unsupported);
  });
}

TEST(RankPlan, IsExecutedOnceBeforeItsGraphs) {
  run_ranks(2, [](RankTeam& team) {
    UnevenRanks ranks(team, SubmitMode::graph, {0ms});
    ranks.runner().prepare_graph();
    EXPECT_EQ(ranks.executions(), 1);
    static_cast<void>(ranks.runner().run());
    EXPECT_EQ(ranks.executions(), 2);
  });
}

TEST(RankPlan, GivesAnExecutionAHundredTimesTheLongestOneButAMinute) {
  EXPECT_EQ(execution_limit(0.001), 60.0);
  EXPECT_EQ(execution_limit(3.0), 300.0);
}

TEST(RankPlan, HashesEverythingThatRanksMustHaveInCommon) {
  PlanGraph graph;
  graph.add_lane({.name = "a/compute", .device = "a"});
  graph.add_lane({.name = "b/compute", .device = "b"});
  graph.add_task({.name = "one", .lanes = {0}});
  graph.add_task({.name = "two", .lanes = {1}, .after = {0}});
  const std::uint64_t hash = hash_of(graph);
  EXPECT_EQ(hash_of(PlanGraph(graph)), hash);
  PlanGraph other = graph;
  other.tasks[1].after.clear();
  EXPECT_NE(hash_of(other), hash);
  other = graph;
  other.tasks[1].lanes = {0};
  EXPECT_NE(hash_of(other), hash);
  other = graph;
  other.tasks[0].name = "on";
  EXPECT_NE(hash_of(other), hash);
  other = graph;
  other.tasks[0].kind = TaskKind::copy;
  EXPECT_NE(hash_of(other), hash);
  other = graph;
  other.tasks[0].work.flops = 0x100;
  EXPECT_NE(hash_of(other), hash);
  other = graph;
  other.lanes[0].name = "c/compute";
  EXPECT_NE(hash_of(other), hash);
  other = graph;
  other.tasks[0].work.bytes = 8;
  EXPECT_NE(hash_of(other), hash);
  other = graph;
  other.lanes[0].device = "c";
  EXPECT_NE(hash_of(other), hash);
}

}  // namespace
}  // namespace parbench::test
