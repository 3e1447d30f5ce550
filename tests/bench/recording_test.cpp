// Recordings of plans on real CPU streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/executor.h"
#include "bench/profile.h"
#include "kernels/machine.h"

namespace parbench {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;

/// Two streams of one device. Tasks spin.
class RecordingTest : public ::testing::Test {
 protected:
  TaskId add(LaneId lane, microseconds duration, std::vector<TaskId> after = {}, int calls = 1) {
    Task task{.name = "task " + std::to_string(plan_.tasks().size()),
              .lane = lane,
              .calls = {},
              .after = std::move(after)};
    for (int i = 0; i < calls; ++i) {
      ops_.push_back(device_->prepare(Spin{.duration = duration}, streams_[0]->threads()));
      task.calls.push_back(OpCall{ops_.back().get(), {counter_}});
    }
    return plan_.add(std::move(task));
  }

  TaskId add_copy(LaneId lane, std::vector<TaskId> after) {
    return plan_.add({.name = "copy",
                      .lane = lane,
                      .calls = {CopyCall{target_, counter_}},
                      .after = std::move(after),
                      .kind = TaskKind::copy});
  }

  static Buffer zeroed(Buffer buffer) {
    std::memset(buffer.data(), 0, buffer.bytes());
    return buffer;
  }

  static const timeline::Call& call_of(const timeline::Timeline& timeline, TaskId task) {
    return *std::ranges::find(timeline.calls, static_cast<std::size_t>(task),
                              &timeline::Call::task);
  }

  Machine machine_;
  std::unique_ptr<Device> device_ = std::move(machine_.open("cpu:0").front());
  std::vector<std::unique_ptr<Stream>> streams_ = [this] {
    std::vector<std::unique_ptr<Stream>> made;
    made.push_back(device_->make_stream(StreamKind::compute, 0, 2));
    made.push_back(device_->make_stream(StreamKind::compute, 1, 2));
    return made;
  }();
  Buffer counter_ = zeroed(device_->allocate(sizeof(std::uint64_t), MemoryKind::device));
  Buffer target_ = zeroed(device_->allocate(sizeof(std::uint64_t), MemoryKind::device));
  std::vector<std::unique_ptr<Op>> ops_;
  Plan plan_;
  LaneId first_ = plan_.add_lane("first", *streams_[0]);
  LaneId second_ = plan_.add_lane("second", *streams_[1]);
};

class RecordingOfLaunch : public RecordingTest, public ::testing::WithParamInterface<Launch> {};

TEST_P(RecordingOfLaunch, HasEveryCallOnItsLaneInTheOrderOfThePlan) {
  const TaskId one = add(first_, microseconds(300), {}, 2);
  const TaskId copy = add_copy(second_, {one});
  const TaskId two = add(second_, microseconds(200));
  const TaskId three = add(first_, microseconds(100), {two});
  Executor executor(plan_, GetParam());
  (void)executor.run();
  const timeline::Timeline timeline = executor.record(1).timeline;

  ASSERT_EQ(timeline.calls.size(), 5U);
  EXPECT_EQ(timeline.dropped, 0U);
  EXPECT_EQ(timeline.lanes.at(1).name, "second");
  EXPECT_EQ(timeline.lanes.at(1).device, "cpu:0");
  EXPECT_EQ(call_of(timeline, copy).name, "copy");
  EXPECT_EQ(call_of(timeline, copy).bytes, 16) << "eight out and eight in";
  EXPECT_EQ(call_of(timeline, copy).lane, 1U);
  EXPECT_THAT(timeline.tasks.at(static_cast<std::size_t>(three)).after,
              ElementsAre(static_cast<std::size_t>(two)));
  const auto end_of = [&](TaskId task) {
    timeline::Nanoseconds end = 0;
    for (const timeline::Call& call : timeline.calls) {
      if (call.task == static_cast<std::size_t>(task)) end = std::max(end, call.ran.end);
    }
    return end;
  };
  EXPECT_GE(call_of(timeline, copy).ran.begin, end_of(one));
  EXPECT_GE(call_of(timeline, two).ran.begin, end_of(copy));
  EXPECT_GE(call_of(timeline, three).ran.begin, end_of(two));
  EXPECT_GE(call_of(timeline, two).ran.length(), 200'000) << "a spin takes no less than it says";
  EXPECT_EQ(timeline.end, end_of(three));
  for (const timeline::Call& call : timeline.calls) {
    EXPECT_LE(call.enqueued.begin, call.enqueued.end);
    EXPECT_LE(call.enqueued.begin, call.ran.begin) << call.name;
    EXPECT_GE(call.enqueued.begin, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecordingOfLaunch,
                         ::testing::Values(Launch::one_thread, Launch::thread_per_lane,
                                           Launch::graph));

TEST_F(RecordingTest, TellsOfTheExecutionInTheMiddle) {
  add(first_, microseconds(100));
  Executor executor(plan_);
  (void)executor.run();
  const Recording recording = executor.record(5);
  EXPECT_EQ(recording.seconds.size(), 5U);
  EXPECT_GT(recording.seconds_per_call, 0);
  EXPECT_EQ(recording.timeline.calls.size(), 1U) << "of one execution, not of all";
}

TEST_F(RecordingTest, LeavesLaterRunsAlone) {
  add(first_, microseconds(50));
  Executor executor(plan_);
  (void)executor.record(1);
  EXPECT_NO_THROW((void)executor.run());
  EXPECT_EQ(executor.record(1).timeline.calls.size(), 1U);
}

TEST_F(RecordingTest, GivesProfilesThatAddUp) {
  const TaskId one = add(first_, microseconds(400));
  add(second_, microseconds(300), {one});
  Executor executor(plan_);
  (void)executor.run();
  const report::Profile profile = profile_of(executor.record(3));
  EXPECT_EQ(profile.executions, 3);
  ASSERT_EQ(profile.devices.size(), 1U);
  EXPECT_NEAR(profile.devices[0].busy + profile.devices[0].idle, profile.span, 1e-12);
  EXPECT_GE(profile.lanes.at(1).waits.dependency, 400e-6);
  EXPECT_GE(profile.critical_path.compute, 700e-6) << "one after the other";
  ASSERT_EQ(profile.calls.size(), 1U);
  EXPECT_EQ(profile.calls[0].count, 2);
}

TEST(RecordedExecutions, AreManyOfShortCasesAndOneOfLongOnes) {
  EXPECT_EQ(recorded_executions(10), 1);
  EXPECT_EQ(recorded_executions(0.01), 3);
  EXPECT_EQ(recorded_executions(1e-6), 25);
  EXPECT_EQ(recorded_executions(0), 25);
}

}  // namespace
}  // namespace parbench
