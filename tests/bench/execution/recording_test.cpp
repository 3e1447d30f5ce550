// Recordings of plans on real CPU streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/execution/call_recorder.h"
#include "bench/execution/executor.h"
#include "bench/sampling/profiling_pass.h"
#include "kernels/machine/machine.h"
#include "tests/scenarios/fake_device.h"
#include "tests/support/logging_stream.h"

namespace parbench {
namespace {

using std::chrono::microseconds;
using test::Logging;
using test::LoggingStream;
using ::testing::ElementsAre;

/// Two streams of one device. Tasks spin.
class RecordingTest : public ::testing::Test {
 protected:
  TaskId add(LaneId lane, microseconds duration, std::vector<TaskId> after = {}, int calls = 1) {
    Task task{.name = "task " + std::to_string(plan_.graph().tasks.size()),
              .lanes = {lane},
              .after = std::move(after)};
    std::vector<Call> made;
    for (int i = 0; i < calls; ++i) {
      ops_.push_back(device_->prepare(Spin{.duration = duration}, streams_[0]->threads()));
      made.emplace_back(OpCall{ops_.back().get(), {counter_}});
    }
    return plan_.add(std::move(task), std::move(made));
  }

  TaskId add_copy(LaneId lane, std::vector<TaskId> after) {
    return plan_.add(
        {.name = "copy", .kind = TaskKind::copy, .lanes = {lane}, .after = std::move(after)},
        {CopyCall{target_, counter_}});
  }

  static Buffer zeroed(Buffer buffer) {
    std::memset(buffer.data(), 0, buffer.bytes());
    return buffer;
  }

  static const TimedCall& call_of(const Timeline& timeline, TaskId task) {
    return *std::ranges::find(timeline.calls, task, &TimedCall::task);
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

/// Spins like another operation under the name of a reference kernel.
class ReferenceOp final : public Op {
 public:
  explicit ReferenceOp(Op& inner) : inner_(inner) {
    name_ = "convolution_backward_data";
    implementation_ = "ref:any";
    is_reference_ = true;
    arguments_ = {{"weights", Access::read, canonical({5, 3, 1, 1})},
                  {"diff_source", Access::write, canonical({2, 3, 4, 4})}};
  }
  void enqueue(Stream& stream, std::span<const BufferView> views) override {
    inner_.enqueue(stream, views);
  }

 private:
  Op& inner_;
};

TEST_F(RecordingTest, NamesTensorsAndKernelsAndMarksReferenceKernels) {
  const TaskId usual = add(first_, microseconds(10));
  ReferenceOp reference(*ops_.back());
  const TaskId slow =
      plan_.add({.name = "slow", .lanes = {first_}}, {OpCall{&reference, {counter_}}});
  Executor executor(plan_);
  (void)executor.run();
  const Timeline timeline = executor.record(1, 0).timeline;
  EXPECT_FALSE(call_of(timeline, usual).reference);
  EXPECT_TRUE(call_of(timeline, slow).reference);
  EXPECT_EQ(call_of(timeline, slow).kernel, "ref:any");
  EXPECT_EQ(call_of(timeline, slow).tensors, "weights 5x3x1x1, diff_source 2x3x4x4");
}

class RecordingOfLaunch : public RecordingTest, public ::testing::WithParamInterface<SubmitMode> {};

TEST_P(RecordingOfLaunch, HasEveryCallOnItsLaneInTheOrderOfThePlan) {
  const TaskId one = add(first_, microseconds(300), {}, 2);
  const TaskId copy = add_copy(second_, {one});
  const TaskId two = add(second_, microseconds(200));
  const TaskId three = add(first_, microseconds(100), {two});
  Executor executor(plan_, GetParam());
  (void)executor.run();
  const Timeline timeline = executor.record(1, 0).timeline;

  ASSERT_EQ(timeline.calls.size(), 5U);
  EXPECT_EQ(timeline.graph.lanes.at(1).name, "second");
  EXPECT_EQ(timeline.graph.lanes.at(1).device, "cpu:0");
  EXPECT_EQ(call_of(timeline, copy).name, "copy");
  EXPECT_EQ(call_of(timeline, copy).work.bytes, 16) << "eight out and eight in";
  EXPECT_EQ(call_of(timeline, copy).lane, 1);
  EXPECT_THAT(timeline.graph.task(three).after, ElementsAre(two));
  const auto end_of = [&](TaskId task) {
    Nanoseconds end = 0;
    for (const TimedCall& call : timeline.calls) {
      if (call.task == task) end = std::max(end, call.ran.end);
    }
    return end;
  };
  EXPECT_GE(call_of(timeline, copy).ran.begin, end_of(one));
  EXPECT_GE(call_of(timeline, two).ran.begin, end_of(copy));
  EXPECT_GE(call_of(timeline, three).ran.begin, end_of(two));
  EXPECT_GE(call_of(timeline, two).ran.length(), 200'000) << "a spin takes no less than it says";
  EXPECT_EQ(timeline.end, end_of(three));
  for (const TimedCall& call : timeline.calls) {
    EXPECT_LE(call.enqueued.begin, call.enqueued.end);
    EXPECT_LE(call.enqueued.begin, call.ran.begin) << call.name;
    EXPECT_GE(call.enqueued.begin, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecordingOfLaunch,
                         ::testing::Values(SubmitMode::one_thread, SubmitMode::thread_per_lane,
                                           SubmitMode::graph));

TEST_F(RecordingTest, ReturnsTheExecutionNearestToATime) {
  add(first_, microseconds(100));
  Executor executor(plan_);
  (void)executor.run();
  const Recording recording = executor.record(5, 0);
  EXPECT_EQ(recording.seconds.size(), 5U);
  EXPECT_EQ(recording.seconds[recording.kept], std::ranges::min(recording.seconds));
  const Recording longest = executor.record(5, 1000);
  EXPECT_EQ(longest.seconds[longest.kept], std::ranges::max(longest.seconds));
  EXPECT_GT(recording.seconds_per_call, 0);
  EXPECT_EQ(recording.timeline.calls.size(), 1U) << "of one execution, not of all";
}

TEST_F(RecordingTest, LastsAsLongAsTheExecutionWasMeasured) {
  add(first_, microseconds(100));
  add(first_, microseconds(100));
  Executor executor(plan_);
  (void)executor.run();
  const Recording recording = executor.record(1, 0);
  const Timeline& timeline = recording.timeline;
  const Nanoseconds ran = timeline.end - timeline.calls.front().ran.begin;
  const auto measured = static_cast<Nanoseconds>(std::llround(recording.seconds.front() * 1e9));
  // No less than ran, and no more than since the host began, however late the last event came.
  EXPECT_EQ(timeline.end - timeline.begin, std::clamp(measured, ran, timeline.end))
      << "without the waking of the stream, which comes before the first event";
}

TEST_F(RecordingTest, LeavesLaterRunsAlone) {
  add(first_, microseconds(50));
  Executor executor(plan_);
  (void)executor.record(1, 0);
  EXPECT_NO_THROW((void)executor.run());
  EXPECT_EQ(executor.record(1, 0).timeline.calls.size(), 1U);
}

TEST_F(RecordingTest, GivesProfilesThatAddUp) {
  const TaskId one = add(first_, microseconds(400));
  add(second_, microseconds(300), {one});
  Executor executor(plan_);
  (void)executor.run();
  const report::Profile profile = profile_of(executor.record(3, 0));
  EXPECT_EQ(profile.executions, 3);
  ASSERT_EQ(profile.metrics.devices.size(), 1U);
  EXPECT_NEAR(profile.metrics.devices[0].busy + profile.metrics.devices[0].idle,
              profile.metrics.span, 1e-12);
  EXPECT_GE(profile.metrics.lanes.at(1).waits.dependency, 400e-6);
  // One after the other; a stream may take the host's core, which then enqueues the second too
  // late.
  EXPECT_GE(profile.metrics.critical_path.compute + profile.metrics.critical_path.host, 700e-6);
  ASSERT_EQ(profile.metrics.calls.size(), 1U);
  EXPECT_EQ(profile.metrics.calls[0].count, 2);
}

/// A lane on each of these streams, with a copy.
template <class Streams>
Plan copies_on(Streams& streams) {
  Plan plan;
  for (LoggingStream& stream : streams) {
    const LaneId lane = plan.add_lane("lane", stream);
    plan.add({.name = "copy", .kind = TaskKind::copy, .lanes = {lane}}, {CopyCall{}});
  }
  return plan;
}

TEST(RecordingRefused, LeavesNoStreamLogging) {
  test::FakeDevice device(0);
  std::array streams{LoggingStream(device), LoggingStream(device, Logging::refused),
                     LoggingStream(device)};
  const Plan plan = copies_on(streams);
  const CallTags tags(plan);
  EXPECT_THROW((void)CallRecorder(plan, SubmitMode::one_thread, tags), Unsupported);
  for (const LoggingStream& stream : streams) EXPECT_EQ(stream.log, nullptr);
}

TEST(RecordingRefused, IsKnownBeforeAndLetsThePlanRun) {
  test::FakeDevice device(0);
  std::array streams{LoggingStream(device), LoggingStream(device, Logging::refused)};
  const Plan plan = copies_on(streams);
  Executor executor(plan);
  EXPECT_THROW(executor.check_recording(), Unsupported);
  EXPECT_THROW((void)executor.record(1, 0), Unsupported);
  EXPECT_NO_THROW((void)executor.run());
}

TEST(Tags, AreThoseOfThePlansCallsAlone) {
  test::FakeDevice device(0);
  std::array streams{LoggingStream(device), LoggingStream(device)};
  const Plan plan = copies_on(streams);
  Executor executor(plan);
  (void)executor.run();
  EXPECT_THAT(streams[0].copied_tags, ElementsAre(1));
  EXPECT_THAT(streams[1].copied_tags, ElementsAre(2));
  for (const LoggingStream& stream : streams) EXPECT_EQ(stream.tag(), 0U);
}

TEST(RecordingOfGraphs, CapturesThemWhileTheStreamsLog) {
  test::FakeDevice device(0);
  std::array streams{LoggingStream(device)};
  const Plan plan = copies_on(streams);
  Executor executor(plan, SubmitMode::graph);
  (void)executor.run();
  (void)executor.record(2, 0);
  EXPECT_THAT(streams[0].logged_captures, ElementsAre(false, true));
}

}  // namespace
}  // namespace parbench
